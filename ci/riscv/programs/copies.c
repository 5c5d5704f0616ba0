/* File calls of sed, cp, chmod, perl and cat: flags of descriptors, places in folders, rights by
   descriptor, copies in the kernel, files in memory, attributes that no file has. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
static void flags(int number) {
    int way = fcntl(number, F_GETFL);
    printf("%d %d, ", fcntl(number, F_GETFD), way & (O_ACCMODE | O_APPEND | O_NONBLOCK));
}
static int mode(const char *path) {
    struct stat st;
    return stat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}
int main(void) {
    char top[] = "/tmp/manycore-copies-XXXXXX";
    if (!mkdtemp(top) || chdir(top)) return 1;
    int file = open("one", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640), ends[2], pair[2];
    flags(file), flags(dup(file)), flags(fcntl(file, F_DUPFD_CLOEXEC, 9));
    flags(open("one", O_RDONLY));
    if (pipe2(ends, O_CLOEXEC) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
    flags(ends[0]), flags(ends[1]), flags(pair[0]);
    fcntl(pair[0], F_SETFD, FD_CLOEXEC), fcntl(pair[0], F_SETFL, O_NONBLOCK);
    flags(pair[0]), ioctl(pair[0], FIONCLEX), flags(pair[0]), ioctl(pair[1], FIOCLEX);
    flags(pair[1]), flags(dup3(file, 20, O_CLOEXEC)), puts("");
    /* O_APPEND writes at the end, wherever the file position is, also if the flag is set later. */
    int other = open("one", O_RDWR);
    (void)!write(file, "12", 2), lseek(file, 0, SEEK_SET), (void)!write(file, "34", 2);
    fcntl(other, F_SETFL, O_APPEND), (void)!write(other, "56", 2);
    char text[8] = "";
    printf("%zd %s\n", pread(other, text, 7, 0), text);
    off_t from = 2, to = 1;
    int copy = open("two", O_RDWR | O_CREAT, 0600);
    printf("%zd %ld ", sendfile(copy, other, &from, 3), (long)from);
    from = 0;
    printf("%zd %ld %ld ", copy_file_range(other, &from, copy, &to, 4, 0), (long)from, (long)to);
    memset(text, 0, sizeof text);
    printf("%zd %s %ld\n", pread(copy, text, 7, 0), text, (long)lseek(copy, 0, SEEK_CUR));
    int memory = memfd_create("memory", MFD_CLOEXEC);
    printf("%d %d ", ftruncate(memory, 4096), fcntl(memory, F_GETFD));
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    strcpy(page, "mapped");
    printf("%zd %s\n", pread(memory, text, 7, 0), text);
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", copy);
    printf("%d %o ", chmod(link, 0604), (unsigned)mode("two"));
    printf("%d %o ", fchmodat(AT_FDCWD, "two", 0711, AT_SYMLINK_NOFOLLOW), (unsigned)mode("two"));
    if (symlink("two", "link")) return 1;
    printf("%d %d ", open("link", O_RDONLY | O_NOFOLLOW), errno == ELOOP);
    printf("%d %d ", access("one", X_OK), errno == EACCES);
    printf("%d %d\n", access("two", R_OK | X_OK), faccessat(AT_FDCWD, "two", W_OK, AT_EACCESS));
    printf("%zd %d\n", getxattr("one", "user.none", text, 1), errno == ENODATA || errno == ENOTSUP);
    printf("%d %d\n", mknod("three", S_IFREG | 0600, 0), mode("three") == 0600);
    DIR *folder = opendir(".");
    readdir(folder);
    long place = telldir(folder);
    char name[300];
    strcpy(name, readdir(folder)->d_name);
    readdir(folder);
    seekdir(folder, place);
    printf("%d ", strcmp(name, readdir(folder)->d_name));
    rewinddir(folder);
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    printf("%d\n", count);
    unlink("one"), unlink("two"), unlink("three"), unlink("link");
    return chdir("/") || rmdir(top);
}
