#!/usr/bin/env python3
"""Checks what people read: comments and Markdown. Needs python3 and no network; takes some seconds.

    ci/docs.py                 all checks
    ci/docs.py --worst N DIR   the N sentences of DIR with most stumbling blocks, and nothing else
    ci/docs.py --words         the words of each Markdown file, and nothing else
    ci/docs.py --print FILE    the tables of a document, such as docs/figures.md, from the results that it links; or
                               all rows of a file docs/results/NAME.csv as a table

1. Stumbling blocks in 1,000 words of comments and Markdown: constructions that make a reader go back
   (`BLOCKS` below). Each crate has a limit, in `LIMITS`. The limit of new text is 3. A limit falls when a crate
   is rewritten and does not rise.
2. Words of each Markdown file, and of all together (`WORDS`).
3. The guide's summary has each of its pages. Names: a path, a heading or an item that a document or a comment names in backticks must exist.
   So must a name with an underscore or in CamelCase, a file's name and an item between brackets.
4. Results: each table below a link to `docs/results/NAME.csv` is a selection of that file's rows and columns, and each such
   file names its host, date, command and cells. Times in the prose of `PROSE` are in results.
"""

import csv
import io
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter
from functools import lru_cache

# Stumbling blocks in 1,000 words that a crate may have.
LIMITS = {
    "docs": 1.0,
    "openmp": 3.0,
    "runtime/check": 3.0,
    "runtime/cores": 3.0,
    "runtime/manycore": 3.0,
    "runtime/platform": 3.0,
    "runtime/rayon-core": 3.0,
    "runtime/team": 3.0,
    "simulator/chip": 3.0,
    "simulator/riscv": 3.0,
    "laboratory/figure": 3.0,
    "laboratory/guests": 3.0,
    "laboratory/lab": 3.0,
    "laboratory/peers": 3.0,
    "laboratory/programs": 3.0,
}

# Most words of a Markdown file. A README beside code may have `BESIDE_CODE`, unless it has a row here.
WORDS = {
    "README.md": 700,
    "docs/figures.md": 2200,
    "docs/guests.md": 1100,
    "docs/laboratory.md": 1500,
    "CHANGELOG.md": 600,
}
BESIDE_CODE = 1800
ALL_WORDS = 35000

# Their prose has no times but those of README's results and of other results of that host and day.
PROSE = ("README.md", "docs/guide/fork-join.md", "runtime/manycore/src/lib.rs")

# All their tables are from results.
MEASURED = ("README.md", "docs/figures.md", "docs/guests.md")

# Folders whose text is not ours, or not for readers.
SKIPPED = {"target", ".git", "out", "node_modules", "tables", "published"}
# Not counted for stumbling blocks: names of other works, and history.
NOT_COUNTED = {"THIRD_PARTY.md", "CHANGELOG.md"}

# --- prose -----------------------------------------------------------------------------------------


def markdown_prose(text):
    """Paragraphs, lists and headings; without code and tables. Each code span is one word."""
    kept, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            kept.append(line)
    return re.sub(r"`[^`]*`", "X", "\n".join(kept))


def comment_lines(text):
    """For each line of Rust its comment, if the line has nothing else; otherwise `None`."""
    for line in text.split("\n"):
        stripped = line.lstrip()
        yield stripped.lstrip("/").removeprefix("!").strip() if stripped.startswith("//") else None


def comment_prose(text):
    """The comments of a Rust file, without code blocks. Code between two comments ends a sentence."""
    kept, fenced = [], False
    for line in comment_lines(text):
        if line is None:
            fenced = False
            kept.append("")
        elif line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("|"):
            kept.append(line)
    joined = re.sub(r"\n{2,}", "\n\n", "\n".join(kept))
    return re.sub(r"`[^`\n]*`|\[[^\]\n]*\](\([^)\n]*\))?", "X", joined)


def sentences(prose):
    for part in re.split(r"\n\n|(?<=[.:;?])\s", prose):
        part = " ".join(part.split())
        if part:
            yield part


# --- stumbling blocks ------------------------------------------------------------------------------


def phrases(*wanted):
    return re.compile(r"(?<![\w'])(?:" + "|".join(wanted) + r")(?![\w])", re.IGNORECASE)


RELATIVE = "(?:that|which|of|who)"
BLOCKS = {
    "nobody is named": phrases("(?:no|any|some)body(?:'s)?"),
    "a thing is a person": phrases("who(?:m|se)?"),
    "tell": phrases("tell(?:s|ing)?", "told"),
    "a pronoun with a clause": phrases(
        f"ones? {RELATIVE}", f"(?:those|that) {RELATIVE}", "the (?:first|last|other|same) one"
    ),
    "a preposition with a clause": phrases("(?:by|for|from|in|of|on|to|with) (?:which|whom)", "thereof"),
    "an inverted or old phrase": phrases(
        "as long as it", "(?:is|are) to be had", "is had", "(?:came|come|comes) of", "(?:is|are) none", "there be",
        "nor (?:is|are|does)", "not so", "so many", "all the same", "but for", "be it", "in the midst", "lest", "likewise",
        r"(?!is not|does not|was not|has not)\w+s not",
    ),
}
# A sentence that begins with a clause or with what it is about, and is no question.
OPENING = re.compile(r"(?:Of|Who|Whom|Whose|What|Where|That one|For how|To one|By whom)\b[^?]*$")


def blocks_in(sentence):
    return sum(len(rule.findall(sentence)) for rule in BLOCKS.values()) + bool(OPENING.match(sentence))


# --- files -----------------------------------------------------------------------------------------


@lru_cache(maxsize=None)
def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def files(folder, *endings):
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED or name == "published" and here.endswith("sleep"))
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.normpath(os.path.join(here, name))


def crate_of(path):
    for crate in LIMITS:
        if path.startswith(crate + "/"):
            return crate
    return "docs"


def prose_of(path):
    return markdown_prose(read(path)) if path.endswith(".md") else comment_prose(read(path))


# --- check 1: stumbling blocks -----------------------------------------------------------------------


def count_blocks(texts, wrong):
    words, blocks = Counter(), Counter()
    for path in texts:
        if os.path.basename(path) in NOT_COUNTED:
            continue
        crate = crate_of(path)
        for sentence in sentences(prose_of(path)):
            words[crate] += len(sentence.split())
            blocks[crate] += blocks_in(sentence)
    for crate, limit in LIMITS.items():
        share = 1000 * blocks[crate] / max(words[crate], 1)
        if share > limit:
            wrong.append(
                f"{crate}: {share:.1f} stumbling blocks in 1,000 words, at most {limit}: ci/docs.py --worst 20 {crate}"
            )
    total = 1000 * sum(blocks.values()) / sum(words.values())
    return f"{total:.1f} stumbling blocks in 1,000 of {sum(words.values()):,} words"


def print_worst(count, folder):
    found = []
    for path in [folder] if os.path.isfile(folder) else files(folder, ".rs", ".md"):
        for sentence in sentences(prose_of(path)):
            blocks = blocks_in(sentence)
            if blocks:
                found.append((blocks / (len(sentence.split()) + 6), path, sentence))
    for _, path, sentence in sorted(found, reverse=True)[:count]:
        print(f"{path}: {sentence}")


# --- check 2: words ----------------------------------------------------------------------------------


def words_of(path):
    """As `wc -w` counts."""
    return len(read(path).split())


def count_words(documents, wrong):
    total = 0
    for path in documents:
        words = words_of(path)
        total += words
        beside_code = BESIDE_CODE if os.path.basename(path) == "README.md" and path.count("/") else None
        limit = WORDS.get(path, beside_code)
        if limit and words > limit:
            wrong.append(f"{path} has {words} words, at most {limit}")
    if total > ALL_WORDS:
        wrong.append(f"all Markdown has {total} words, at most {ALL_WORDS}")
    return f"{total:,} words of Markdown"


# --- check 3: names ----------------------------------------------------------------------------------

FLOORS = ("ci", ".ci", "docs", "runtime", "openmp", "simulator", "laboratory")
OURS = re.compile(r"(?:\.?ci|docs|runtime|openmp|simulator|laboratory)/[\w./-]*$")
SOURCE = re.compile(r"(?:[\w-]+/)+[\w-]+\.(?:rs|md|sh|py|toml|c|h|csv|svg)$")
# Files of other projects, and those of a program that `manycore new-program` writes.
ELSEWHERE = {"src/main.rs", "kernel/sched/fair.c", "include/gem5/asm/generic/m5ops.h", "include/uapi/asm-generic/unistd.h"}
# Words of other languages and systems, which stand in backticks with `::` and are not ours.
FOREIGN = {"std", "rayon", "shuttle"}
# Names of C libraries, kernels, processors, compilers and other runtimes, and parts of names and of formulas.
FOREIGN_NAMES = set(
    """
    Fp Fs LinkedBlockingQueue _CHILD_CLEARTID _FORTIFY_SOURCE _PARENT_SETTID __WALL __WNOTHREAD __tls_get_addr
    active_load_balance_cpu_stop auto_partitioner available_idle_cpu cache_nice_tries calculate_imbalance
    delayacct_blkio_ticks detach_tasks find_idlest_cpu imbalance_pct m5_rpns map_util_freq newidle_balance nohz_full
    omp_all_memory omp_initial_device panic_fuse parallel_invoke select_idle_core select_idle_sibling should_we_balance task_arena
    task_group task_hot update_curr w_i wake_affine
    """.split()
)
# A file that a study or a user writes.
WRITTEN = re.compile(r"(?:DATE-HOST-)?NAME\.(?:csv|svg)|sweep\.sh")


def heading_anchor(heading):
    plain = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


@lru_cache(maxsize=None)
def headings(path):
    fenced, found = False, []
    for line in read(path).split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        match = re.match(r"#+ (.*)", line)
        if match and not fenced:
            found.append(re.sub(r"[`*]", "", match[1]).strip())
    return found


def resolve(name, path):
    """The file or folder that `name` means in `path`: beside it, in a folder above it, or in the pool's sources."""
    place = os.path.dirname(path)
    bases = [place, "runtime/manycore/src", "runtime/team/src", "runtime/cores/src", "laboratory/programs/src"]
    while place:
        bases += [place, f"{place}/src"]
        place = os.path.dirname(place)
    for base in [*bases, "."]:
        candidate = os.path.normpath(os.path.join(base, name))
        if os.path.exists(candidate):
            return candidate
    return None


def python_code(text):
    """The tokens of a Python file without comments and docstrings."""
    kept, begins = [], True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and begins:
            continue
        if token.type != tokenize.COMMENT:
            kept.append(token.string)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return "\n".join(kept)


def code_of(path):
    """A source file without its comments."""
    text = read(path)
    if path.endswith(".py"):
        return python_code(text)
    if path.endswith((".sh", ".toml")):
        return re.sub(r"(?m)(?:^|(?<=\s))#.*$", "", text)
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    # An address has two strokes too.
    text = re.sub(r"(?m)(?<!:)//.*$", "", text)
    return re.sub(r"(?m)(?:^|(?<=\s))#(?! ?(?:define|el|end|if|include|pragma|undef)).*$", "", text) if path.endswith((".S", ".map")) else text


def defined_words(sources):
    words = set()
    for path in sources:
        # A file of Rust is a module or a test.
        if path.endswith(".rs"):
            words.add(os.path.basename(path).removesuffix(".rs"))
        words.update(re.findall(r"[A-Za-z_]\w*", code_of(path)))
    return words


def names_in(path):
    """Pairs of a line number and what is written there, without code blocks."""
    text, fenced = read(path), False
    lines = text.split("\n") if path.endswith(".md") else comment_lines(text)
    for number, line in enumerate(lines, 1):
        if line is None:
            fenced = False
            continue
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def is_written(name):
    """Whether a study writes a file of this name."""
    study, ending = name.rsplit(".", 1)
    folder = f"laboratory/lab/src/study/{study.replace('-', '_')}"
    return WRITTEN.fullmatch(name) or ending in ("csv", "svg") and os.path.isdir(folder)


def check_names(texts, defined, wrong):
    checked, foreign = 0, set()
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    basenames = {os.path.basename(path) for path in listed.stdout.split("\n")}
    pages = {f"docs/guide/{name}" for name in re.findall(r"\]\((.*?)\)", read("docs/guide/SUMMARY.md"))}
    for path in texts:
        if path.startswith("docs/guide/") and path not in pages | {"docs/guide/SUMMARY.md"}:
            wrong.append(f"docs/guide/SUMMARY.md: {path} is missing")
        if os.path.basename(path) in NOT_COUNTED:
            continue
        for number, line in names_in(path):
            for span in re.findall(r"`([^`]+)`", line):
                if OURS.match(span) or SOURCE.match(span):
                    checked += 1
                    if span not in ELSEWHERE and not resolve(span, path):
                        wrong.append(f"{path}:{number}: there is no {span}")
                elif re.fullmatch(r"\w+(?:::\w+)+(?:\(\))?", span):
                    parts = span.removesuffix("()").split("::")
                    checked += 1
                    if parts[0] in FOREIGN:
                        foreign.add(parts[0])
                    elif parts[-1] not in defined:
                        wrong.append(f"{path}:{number}: nothing is named {parts[-1]} ({span})")
                elif re.fullmatch(r"(?:[a-z_]\w*_\w+|[A-Z]\w*[a-z]\w*)(?:\(\))?", span):
                    checked += 1
                    name = span.removesuffix("()")
                    if name in defined:
                        continue
                    foreign.add(name)
                    if name not in FOREIGN_NAMES:
                        wrong.append(f"{path}:{number}: nothing is named {span}")
                elif re.fullmatch(r"[\w-]+\.(?:rs|md|sh|py|toml|csv|svg)", span):
                    checked += 1
                    if span not in basenames and not is_written(span):
                        wrong.append(f"{path}:{number}: no file is named {span}")
            if path.endswith(".rs"):
                for name in re.findall(r"\[`(\w+)(?:\(\))?`\]", line):
                    checked += 1
                    if name not in defined:
                        wrong.append(f"{path}:{number}: nothing is named {name}")
            for file, heading in re.findall(r"`([\w./-]+\.md)`, \"([^\"]+)\"", line):
                target = resolve(file, path)
                checked += 1
                if not target or heading not in headings(target):
                    wrong.append(f"{path}:{number}: {file} has no heading \"{heading}\"")
            if not path.endswith(".md"):
                continue
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                checked += 1
                if not os.path.exists(there):
                    wrong.append(f"{path}:{number}: there is no {target}")
                elif anchor and anchor not in map(heading_anchor, headings(there)):
                    wrong.append(f"{path}:{number}: {there} has no heading for #{anchor}")
    for name in sorted((FOREIGN | FOREIGN_NAMES) - foreign):
        wrong.append(f"ci/docs.py: no text needs the foreign name {name}")
    return f"{checked} names exist"


# --- check 4: results --------------------------------------------------------------------------------


def plain(cell):
    return cell.replace("`", "").replace("**", "").strip()


def read_results(path, wrong):
    lines = read(path).rstrip("\n").split("\n")
    for key in ("host", "date", "command", "cells"):
        if not any(line.startswith(f"# {key}: ") for line in lines):
            wrong.append(f"{path}: a line that begins with \"# {key}: \" is missing")
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def tables(path):
    """How many tables a document has."""
    return len(re.findall(r"^\|[-|]+$", read(path), re.MULTILINE))


def table_lines(path):
    """The lines of tables below a link to results: number, name of the file, columns, and cells (`None`: the head)."""
    source, header = None, None
    for number, line in enumerate(read(path).split("\n"), 1):
        if not line.startswith("|"):
            header = None
            names = re.findall(r"results/([\w.-]+\.csv)\)", line)
            if names or line.startswith("#"):
                source = names[-1] if names else None
        elif source and not set(line) <= set("|- "):
            cells = [plain(cell) for cell in line.strip().strip("|").split("|")]
            if header is None:
                header, cells = ["what" if cell == "" else cell for cell in cells], None
            yield number, source, header, cells


def print_tables(path):
    """Prints a file of results, or the tables of a document: a row is the one of the results with the most equal first
    cells."""
    wrong = []

    def show(cells):
        print("| " + " | ".join(cells) + " |")

    def head(columns):
        show(columns)
        print("|" + "---|" * len(columns))

    if path.endswith(".csv"):
        rows = read_results(path, wrong)
        head(rows[0])
        for row in rows:
            show(row.values())
        return
    for _, source, header, cells in table_lines(path):
        rows = read_results(f"docs/results/{source}", wrong)
        if cells is None:
            print(f"\n{source}\n")
            head(header)
            continue

        def equal(row):
            return [row[key] == cell for key, cell in zip(header, cells)] + [False]

        best = max(rows, key=lambda row: equal(row).index(False))
        show(best[key] for key in header)


def check_prose(results, wrong):
    """Times in prose are in README's results, or in others of that host and day."""
    days = re.findall(r"results/(\d{4}-\d\d-\d\d-\w+-)[\w.-]+\.csv\)", read("README.md"))
    names = [name for name in results if name.startswith(tuple(days))]
    cells = "\n".join(cell for name in names for row in results.get(name, []) for cell in [*row.values()] if cell)
    for path in PROSE:
        lines = [(number, line) for number, line in names_in(path) if not path.endswith(".md") or not line.startswith("|")]
        for number, line in lines:
            for time in re.findall(r"(?<![\d.,-])(\d[\d,]*(?:\.\d+)?) ?(?:ns|us|ms)\b", line):
                if not re.search(rf"(?<![\d.,]){re.escape(time)}(?!\d|\.\d|,\d)", cells):
                    wrong.append(f"{path}:{number}: the results of README.md have no {time}")


def check_results(documents, wrong):
    folder = "docs/results"
    results = {
        name: read_results(f"{folder}/{name}", wrong)
        for name in sorted(os.listdir(folder))
        if re.match(r"\d{4}-\d\d-\d\d-.*\.csv$", name)
    }
    check_prose(results, wrong)
    compared, linked = 0, set()
    for path in documents:
        linked.update(re.findall(r"results/([\w.-]+\.csv)\)", read(path)))
        if path in MEASURED and (alone := tables(path) - len({at for at, *_, cells in table_lines(path) if cells is None})):
            wrong.append(f"{path}: {alone} tables have no link to results above them")
        for number, source, header, cells in table_lines(path):
            if source not in results:
                continue
            if missing := set(header) - set(results[source][0]):
                if cells is None:
                    wrong.append(f"{path}:{number}: {source} has no column {sorted(missing)}")
            elif cells:
                compared += 1
                row = dict(zip(header, cells))
                if not any(all(there[key] == cell for key, cell in row.items()) for there in results[source]):
                    wrong.append(f"{path}:{number}: {source} has no such row: {' | '.join(cells)}")
    for name in sorted(set(results) - linked):
        wrong.append(f"{folder}/{name}: no document links this file")
    return f"{compared} rows are those of {len(results)} results"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if len(sys.argv) == 4 and sys.argv[1] == "--worst" and sys.argv[2].isdigit():
        return print_worst(int(sys.argv[2]), sys.argv[3])
    documents = [path for path in files(".", ".md") if not path.startswith("shared/") and not os.path.islink(path)]
    if len(sys.argv) == 3 and sys.argv[1] == "--print":
        return print_tables(sys.argv[2])
    if sys.argv[1:] == ["--words"]:
        for path in documents:
            print(f"{words_of(path):6} {path}")
        return None
    if sys.argv[1:]:
        sys.exit(__doc__)
    rust = [path for floor in FLOORS for path in files(floor, ".rs")]
    other = [path for floor in FLOORS for path in files(floor, ".c", ".h", ".py", ".sh", ".toml", ".S", ".java", ".ld", ".map")]
    other.append("Cargo.toml")
    # Its list of names of other projects defines none.
    other.remove("ci/docs.py")
    texts = documents + rust
    wrong = []
    said = [
        count_blocks(texts, wrong),
        count_words(documents, wrong),
        check_names(texts, defined_words(rust + other), wrong),
        check_results(documents, wrong),
    ]
    for what in wrong:
        print(f"docs: {what}", file=sys.stderr)
    if wrong:
        sys.exit(f"docs: FAILED, {len(wrong)} faults")
    print("docs: " + ", ".join(said))


main()
