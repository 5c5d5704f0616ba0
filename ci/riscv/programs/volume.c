/* Properties of files: links, rights, owners, times, lengths; users; socket calls on other files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    char folder[] = "/tmp/manycore-volume-XXXXXX";
    struct stat st;
    char text[64] = {0};
    struct statfs volume;
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    umask(027);
    int file = open("file", O_RDWR | O_CREAT, 0666);
    if (write(file, "0123456789", 10) != 10)
        return 2;
    fstat(file, &st);
    printf("%o %d\n", st.st_mode & 07777, (int)umask(022));
    printf("%d %d %zd %s\n", symlink("file", "name"), link("file", "other"),
           readlink("name", text, 63), text);
    printf("%d %d\n", lstat("name", &st), S_ISLNK(st.st_mode));
    printf("%d %d %d\n", stat("name", &st), S_ISREG(st.st_mode), (int)st.st_nlink);
    printf("%d %o\n", chmod("name", 0600), stat("file", &st) ? 0 : st.st_mode & 07777);
    printf("%d %o\n", fchmod(file, 0640), fstat(file, &st) ? 0 : st.st_mode & 07777);
    struct timespec times[2] = {{1000, 5}, {2000, 7}};
    printf("%d ", utimensat(AT_FDCWD, "file", times, 0));
    stat("file", &st);
    printf("%ld %ld %ld\n", (long)st.st_atim.tv_sec, (long)st.st_mtim.tv_sec,
           (long)st.st_mtim.tv_nsec);
    times[1].tv_nsec = UTIME_OMIT;
    times[0].tv_sec = 3000;
    printf("%d ", futimens(file, times));
    fstat(file, &st);
    printf("%ld %ld\n", (long)st.st_atim.tv_sec, (long)st.st_mtim.tv_sec);
    printf("%d %d ", truncate("file", 5), fallocate(file, 0, 0, 20));
    fstat(file, &st);
    printf("%ld\n", (long)st.st_size);
    char a[3], b[4];
    struct iovec parts[] = {{a, 3}, {b, 4}};
    printf("%zd %.3s %d\n", preadv(file, parts, 2, 2), a, b[3]);
    printf("%d %d %d\n", statfs("file", &volume), volume.f_bsize > 0, volume.f_namelen == 255);
    printf("%d %d\n", statfs("none", &volume), errno == ENOENT);
    printf("%d %d\n", flock(file, LOCK_EX), posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    printf("%d %d\n", fcntl(file, F_GETLK, &lock), lock.l_type == F_UNLCK);
    int here = open(".", O_RDONLY | O_DIRECTORY);
    printf("%d %d %d\n", chdir("/"), fchdir(here), access("file", F_OK));
    printf("%d %d\n", chown("file", getuid(), getgid()), fchown(file, -1, -1));
    uid_t r, e, s;
    printf("%d %d\n", getresuid(&r, &e, &s), r == e && e == s && r == getuid());
    printf("%d %d\n", setuid(getuid()), setgid(getgid()));
    int type;
    socklen_t length = sizeof type;
    errno = 0;
    printf("%d %d\n", getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &length), errno == ENOTSOCK);
    errno = 0;
    printf("%d %d\n", (int)wait(0), errno == ECHILD);
    void *page = mmap(0, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    printf("%d %d\n", mlock(page, 4096), munlock(page, 4096));
    errno = 0;
    printf("%d %d\n",
           mmap(0, 4096, PROT_WRITE, MAP_SHARED, open("file", O_RDONLY), 0) == MAP_FAILED,
           errno == EACCES);
    printf("%d %d %d %d\n", unlink("file"), unlink("name"), unlink("other"), rmdir(folder));
    return 0;
}
