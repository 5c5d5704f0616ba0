/* writev and readv of more than 64 MiB, empty and wrong parts, and random bytes of any length. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void) {
    size_t size = (64u << 20) + 4096;
    char *big = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    big[0] = 'a', big[size - 1] = 'z';
    int file = memfd_create("parts", 0);
    struct iovec parts[3] = {{big, size}, {"tail", 4}, {"", 0}};
    printf("%zd\n", writev(file, parts, 3) - (ssize_t)size);
    char end[6] = "";
    printf("%zd %s\n", pread(file, end, 5, (off_t)size - 1), end);
    big[0] = big[size - 1] = '-';
    char tail[9] = "????????";
    struct iovec to[2] = {{big, size}, {tail, 8}};
    lseek(file, 0, SEEK_SET);
    printf("%zd %c %c %s\n", readv(file, to, 2) - (ssize_t)size, big[0], big[size - 1], tail);
    to[1].iov_len = -1;
    printf("%zd %d\n", readv(file, to, 2), errno == EINVAL);
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "12345678", 8) != 8) return 1;
    struct iovec small[2] = {{end, 5}, {tail, 8}};
    printf("%zd %.5s %s\n", readv(ends[0], small, 2), end, tail);
    memset(big, 0, 100000);
    ssize_t count = getrandom(big, 100000, 0);
    int zeros = 0;
    for (int i = 0; i < 100000; i += 1000) zeros += !memcmp(big + i, big + 100000, 1000);
    printf("%zd %d\n", count, zeros);
    return 0;
}
