"""gdb loads this by itself with the library: the alarm of carried ranks does not stop the program."""

import gdb

gdb.execute("handle SIG64 SIG63 SIG62 nostop noprint pass", to_string=True)
