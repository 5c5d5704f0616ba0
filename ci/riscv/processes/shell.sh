echo start $$
ls /usr/bin/dash && echo listed
seq 1 20000 | grep 7 | sort -rn | head -3
x=$(echo sub; echo shell | tr a-z A-Z)
echo "$x"
(exit 3)
echo status $?
for i in 1 2 3; do (exit $i) & done
wait
echo waited
yes | head -2
sed s/a/b/ <<END
aaa
END
trap 'echo terminated' TERM
kill -TERM $$
sleep 0.01 &
wait $!
echo slept $?
sh -c 'kill -9 $$' 2>/dev/null
echo killed $?
no-such-command 2>/dev/null
echo missing $?
