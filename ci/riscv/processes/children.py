import os
import subprocess

print(subprocess.run(["echo", "hi"], capture_output=True, text=True))
print(subprocess.check_output("seq 1 5 | tac", shell=True))
cat = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
out, _ = cat.communicate(b"x" * 300000)
print(len(out), cat.returncode)
try:
    subprocess.run(["/nowhere"])
except FileNotFoundError as error:
    print(error)
print(subprocess.run(["sh", "-c", "kill -TERM $$"]).returncode)
child = os.fork()
if child == 0:
    os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
child = os.posix_spawn("/usr/bin/true", ["true"], os.environ)
print(os.waitpid(child, 0)[1])
try:
    subprocess.run(["sleep", "10"], timeout=0.01)
except subprocess.TimeoutExpired:
    print("timeout")
