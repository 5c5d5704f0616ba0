redis-server --port 6399 --save "" --appendonly no >/dev/null 2>&1 &
server=$!
until redis-cli -p 6399 ping 2>/dev/null | grep -q PONG; do sleep 0.01; done
redis-cli -p 6399 set a 1
redis-cli -p 6399 incr a
redis-cli -p 6399 rpush l x y z
redis-cli -p 6399 lrange l 0 -1
redis-cli -p 6399 --raw eval 'return redis.call("get", "a")' 0
redis-cli -p 6399 shutdown nosave
wait $server
echo server $?
