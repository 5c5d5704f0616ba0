/* Files that are emptied or written at their ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static char name[] = "/tmp/manycore-appending-XXXXXX";
static void show(const char *what) {
    char text[64] = "";
    int file = open(name, O_RDONLY);
    long count = read(file, text, 60);
    printf("%s: %ld %s\n", what, count, text);
    close(file);
}
/* Opens the file and writes two words. The second word has an offset, which counts only without O_APPEND. */
static int twice(const char *what, int flags) {
    int file = open(name, flags, 0600);
    if (file < 0) {
        printf("%s: error %d\n", what, errno);
        return file;
    }
    write(file, "one ", 4);
    pwrite(file, "two ", 4, 1);
    printf("at %ld, flags %o, ", (long)lseek(file, 0, SEEK_CUR), fcntl(file, F_GETFL) & (O_APPEND | O_ACCMODE));
    show(what);
    return file;
}
int main(void) {
    close(mkstemp(name));
    close(twice("plain", O_WRONLY));
    close(twice("appended", O_WRONLY | O_APPEND));
    close(twice("emptied, then appended", O_WRONLY | O_APPEND | O_TRUNC));
    close(twice("emptied for both", O_RDWR | O_APPEND | O_TRUNC | O_CREAT));
    unlink(name);
    close(twice("new", O_WRONLY | O_APPEND | O_TRUNC | O_CREAT));
    close(twice("not new", O_WRONLY | O_APPEND | O_TRUNC | O_CREAT | O_EXCL));
    close(open(name, O_RDONLY | O_TRUNC));
    show("emptied for reading");
    unlink(name);
    int made = open(name, O_RDONLY | O_CREAT | O_TRUNC, 0444);
    struct stat data = {0};
    printf("%d %o\n", made >= 0, fstat(made, &data) ? 0 : data.st_mode & 0777);
    close(made);
    unlink(name);
    close(open(name, O_WRONLY | O_CREAT, 0600));
    int file = twice("once more", O_RDWR | O_APPEND);
    fcntl(file, F_SETFL, 0);
    pwrite(file, "X", 1, 2);
    show("no longer appended");
    fcntl(file, F_SETFL, O_APPEND);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    page[0] = 'M';
    write(file, "end", 3);
    printf("mapped: %s\n", page);
    msync(page, 4096, MS_SYNC);
    munmap(page, 4096);
    show("mapped and appended");
    pid_t child = fork();
    if (child == 0) {
        write(file, " child", 6);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    write(file, " parent", 7);
    show("by two processes");
    printf("%d\n", open("/tmp", O_WRONLY | O_APPEND | O_TRUNC) < 0 ? errno : 0);
    unlink(name);
    return 0;
}
