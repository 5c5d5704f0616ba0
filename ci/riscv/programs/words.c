/* The work of wc with options: lines, words, bytes and the longest line of the standard input. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static long lines, words, bytes, longest;
static void count(FILE *stream) {
    long column = 0;
    int inside = 0;
    for (int c; (c = getc(stream)) != EOF; bytes++) {
        if (c == '\n') {
            lines++;
            longest = column > longest ? column : longest;
            column = 0;
        } else {
            column = c == '\t' ? (column / 8 + 1) * 8 : column + 1;
        }
        words += !isspace(c) && !inside;
        inside = !isspace(c);
    }
}
static int show(int argc, char **argv) {
    int all = 1, option;
    optind = 1;
    while ((option = getopt(argc, argv, "lwcLn:")) != -1) {
        switch (option) {
        case 'l': printf("lines %ld\n", lines); break;
        case 'w': printf("words %ld\n", words); break;
        case 'c': printf("bytes %ld\n", bytes); break;
        case 'L': printf("longest %ld\n", longest); break;
        case 'n': printf("%*ld\n", atoi(optarg), words); break;
        default: return 1;
        }
        all = 0;
    }
    if (all) printf("%7ld %7ld %7ld\n", lines, words, bytes);
    return argc - optind;
}
int main(int argc, char **argv) {
    count(stdin);
    char *some[] = {"words", "-lL", "-n", "12", "rest", NULL};
    char *wrong[] = {"words", "-w", "-x", NULL};
    int left = show(5, some);
    return 16 * left + 4 * show(3, wrong) + show(argc, argv);
}
