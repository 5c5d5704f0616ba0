memcached -l 127.0.0.1 -p 11299 -U 0 -t 2 &
server=$!
sleep 0.02
echo hello >value
memccp --servers=127.0.0.1:11299 value
echo stored $?
memccat --servers=127.0.0.1:11299 value
kill $server
wait $server
echo server $?
