/* The work of grep and sed: regular expressions, and replacement of text. */
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
static void replace(regex_t *wanted, const char *line, const char *with) {
    regmatch_t found[3];
    while (regexec(wanted, line, 3, found, 0) == 0 && found[0].rm_eo > 0) {
        printf("%.*s[%s", (int)found[0].rm_so, line, with);
        if (found[1].rm_so >= 0)
            printf(":%.*s", (int)(found[1].rm_eo - found[1].rm_so), line + found[1].rm_so);
        printf("]");
        line += found[0].rm_eo;
    }
    fputs(line, stdout);
}
int main(void) {
    const char *pattern[] = {"([a-z_]+)\\(", "\"[^\"]*\"", "(ab|c)*d{2,3}$", "([[:digit:]]+)x\\1"};
    const char *text[] = {"call(of, other(this))\n", "say \"a\" and \"b\"\n", "abcabcddd\n",
                          "12x12 13x14\n"};
    for (int i = 0; i < 4; i++) {
        regex_t wanted;
        if (regcomp(&wanted, pattern[i], REG_EXTENDED | REG_NEWLINE)) return 1;
        for (int j = 0; j < 4; j++) replace(&wanted, text[j], "x");
        regfree(&wanted);
    }
    regex_t wrong;
    char reason[80];
    regerror(regcomp(&wrong, "a(b", REG_EXTENDED), &wrong, reason, sizeof reason);
    puts(reason);
    char line[256];
    int found = 0;
    regex_t include;
    regcomp(&include, "^#include <(.*)\\.h>", REG_EXTENDED);
    while (fgets(line, sizeof line, stdin)) {
        if (regexec(&include, line, 0, NULL, 0) == 0) found++, replace(&include, line, "header");
    }
    printf("%d %d %d\n", found, fnmatch("*.[ch]", "patterns.c", 0), fnmatch("a?c", "abd", 0));
    return found;
}
