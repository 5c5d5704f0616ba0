#!/usr/bin/env python3
"""Circles of imports, by file: no more than ten files may need each other.

    ci/circles.py [--most N] [--arrows] SRC...

Each SRC is the folder `src` of a crate. For each one, the script prints the strongly connected
components of the graph of imports that have more than one file. It exits with 1 if one has more
than N files (10). `--arrows` also prints the arrows within each circle.

An arrow goes from a file to each file that defines something it names by a path: in a `use`, or in
code. An import of a re-exported item counts for the file that defines the item. If the script does
not find the definition, for example since a macro writes it, the import counts for the module's own
file. A re-export alone is no arrow, and neither are `mod`, methods, and macros in textual scope.

Tests are left out: what has `#[cfg(test)]`, and files named `tests`, `checked` or `conserving`.
"""

import argparse
import os
import re
import sys
from collections import defaultdict

TESTS = re.compile(r"(^|_)(tests|checked)(_|$)|^conserving$")
ITEMS = {"fn", "struct", "enum", "union", "trait", "type", "const", "static"}
BEGINNINGS = ITEMS | {"pub", "use", "mod", "impl", "unsafe", "extern", "async", "let", "macro_rules"}
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\$crate|[^\sA-Za-z_]")
NOISE = re.compile(
    r"""//[^\n]*
      | b?r(\#*)".*?"\1                  # raw strings
      | [bc]?"(?:\\.|[^"\\])*"           # strings
      | b?'(?:\\(?:u\{\w+\}|x\w\w|.)|[^'\\])'  # characters
    """,
    re.VERBOSE | re.DOTALL,
)


class Module:
    """A module: a file, or a block within one. A module that `cfg` chooses may have several files."""

    def __init__(self, parent, name):
        self.parent, self.name = parent, name
        self.files = []
        self.children = {}
        self.items = defaultdict(set)  # name: files
        self.uses = defaultdict(list)  # alias: paths
        self.globs = []

    def child(self, name):
        return self.children.setdefault(name, Module(self, name))

    def root(self):
        return self.parent.root() if self.parent else self


def block_comments_off(text):
    depth, kept, at = 0, [], 0
    for mark in re.finditer(r"/\*|\*/", text):
        if depth == 0:
            kept.append(text[at:mark.start()])
        depth = depth + 1 if mark[0] == "/*" else max(depth - 1, 0)
        at = mark.end()
    return "".join(kept) + text[at:]


def is_test(attribute):
    inner = re.sub(r"not\s*\([^()]*\)", "", attribute)
    return attribute.startswith("cfg(") and re.search(r"\btest\b", inner) is not None


def closing(tokens, at):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        if tokens[at] in "([{":
            depth += 1
        elif tokens[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def item_end(tokens, at):
    """The place behind the item, field, arm or statement that begins at `at`."""
    is_item = tokens[at] in BEGINNINGS
    while at < len(tokens):
        if tokens[at] == ";" or (tokens[at] == "," and not is_item):
            return at + 1
        if tokens[at] == "{":
            return closing(tokens, at)
        if tokens[at] in ("}", ")"):
            return at
        at = closing(tokens, at) if tokens[at] in "([" else at + 1
    return at


def use_tree(tokens, at, before, found):
    """Reads a tree of `use` into pairs of a path and its alias; returns the place behind it."""
    path = list(before)
    while True:
        token = tokens[at]
        if token == "{":
            at += 1
            while tokens[at] != "}":
                at = use_tree(tokens, at, path, found)
                if tokens[at] == ",":
                    at += 1
            return at + 1
        if token == "*":
            found.append((path, "*"))
            return at + 1
        if token != "::":
            path.append(token)
        at += 1
        if tokens[at] == "as":
            found.append((path, tokens[at + 1]))
            return at + 2
        if tokens[at] != "::" and token != "::":
            if path[-1] == "self":
                path.pop()
            found.append((path, path[-1] if path else "self"))
            return at


class Crate:
    def __init__(self, src):
        self.src = src
        self.imports = []  # file, module, path, alias, whether it is a re-export
        self.paths = []  # file, module, path
        self.words = defaultdict(set)  # file: identifiers outside of `use`
        self.library = None
        self.own_name = self.package()
        self.read_files = set()
        # The library first: programs use it. Programs are in `bin`, or are a `main.rs` anywhere.
        roots = [os.path.join(src, "lib.rs")]
        for here, _, files in sorted(os.walk(src)):
            is_bin = os.path.basename(here) == "bin"
            roots += sorted(os.path.join(here, name) for name in files if is_bin or name == "main.rs")
        for root in roots:
            if root.endswith(".rs") and os.path.exists(root) and root not in self.read_files:
                module = Module(None, "crate")
                if root == roots[0]:
                    self.library = module
                self.read(root, module, os.path.dirname(root))

    def package(self):
        manifest = os.path.join(self.src, os.pardir, "Cargo.toml")
        text = open(manifest, encoding="utf-8").read() if os.path.exists(manifest) else ""
        names = re.findall(r'^name\s*=\s*"([^"]+)"', text, re.MULTILINE)
        return {name.replace("-", "_") for name in names}

    def read(self, file, module, folder):
        """Reads a file as the module; `folder` has its children."""
        if file in module.files:
            return
        module.files.append(file)
        self.read_files.add(file)
        with open(file, encoding="utf-8") as source:
            text = source.read()
        # Attributes of paths keep their strings.
        text = re.sub(r'path\s*=\s*"([^"]+)"', lambda it: "path_is p" + it[1].encode().hex(), text)
        text = re.sub(r"\br#(?=[a-z])", "", text)
        text = re.sub(r"'([a-z_]\w*)\b(?!')", r" ", text)
        text = block_comments_off(NOISE.sub(" ", text))
        tokens = TOKEN.findall(text)
        self.walk(tokens, 0, file, module, folder)

    def walk(self, tokens, at, file, module, folder):
        """Reads a module's items from `at` to its closing brace; returns the place behind it."""
        depth, places, public = 0, [], False
        while at < len(tokens):
            token = tokens[at]
            if token == "#" and tokens[at + 1:at + 2] in (["["], ["!"]):
                begin = at + (2 if tokens[at + 1] == "!" else 1)
                end = closing(tokens, begin)
                attribute = " ".join(tokens[begin + 1:end - 1]).replace(" (", "(")
                places += re.findall(r"path_is p(\w+)", attribute)
                at = end
                if is_test(attribute):
                    while tokens[at:at + 2] == ["#", "["]:
                        at = closing(tokens, at + 1)
                    at = item_end(tokens, at)
                continue
            if token == "pub":
                public = True
                at += 1
                if tokens[at] == "(" and tokens[at + 1] in ("crate", "super", "self", "in"):
                    at = closing(tokens, at)
                continue
            if token == "mod" and re.match(r"[A-Za-z_]", tokens[at + 1]) and tokens[at + 2] in ";{":
                name = tokens[at + 1]
                if tokens[at + 2] == "{":
                    inner = module.child(name)
                    if file not in inner.files:
                        inner.files.append(file)
                    at = self.walk(tokens, at + 3, file, inner, os.path.join(folder, name))
                else:
                    self.find(file, module, name, folder, places)
                    at += 3
                places, public = [], False
                continue
            if token == "use" and tokens[at + 1] not in ("<", ">"):
                found = []
                at = use_tree(tokens, at + 1, [], found)
                for path, alias in found:
                    if path:
                        self.imports.append((file, module, path, alias, public))
                        if alias == "*":
                            module.globs.append(path)
                        else:
                            module.uses[alias].append(path)
                places, public = [], False
                continue
            if token == "macro_rules" and tokens[at + 1] == "!":
                module.items[tokens[at + 2]].add(file)
                at += 3
                continue
            if token in ITEMS and depth == 0:
                name = tokens[at + 2] if tokens[at + 1] == "mut" else tokens[at + 1]
                if re.match(r"[A-Za-z_]", name) and name not in BEGINNINGS:
                    module.items[name].add(file)
            if token == "{":
                depth += 1
            elif token == "}":
                depth -= 1
                if depth < 0:
                    return at + 1
            if re.match(r"[A-Za-z_]|\$crate", token):
                path, before = [token], tokens[at - 1] if at else ""
                while tokens[at + 1:at + 2] == ["::"] and re.match(r"[A-Za-z_]", tokens[at + 2]):
                    path.append(tokens[at + 2])
                    at += 2
                # A field, a method or a definition of this name is another thing.
                if before not in (".", "fn"):
                    self.words[file].add(path[0])
                if len(path) > 1:
                    self.paths.append((file, module, path))
            if token in (";", "{", "}"):
                places, public = [], False
            at += 1
        return at

    def find(self, file, module, name, folder, places):
        """Reads the file of `mod name;`."""
        if TESTS.search(name):
            return
        usual = [os.path.join(folder, name + ".rs"), os.path.join(folder, name, "mod.rs")]
        for place in usual:
            if os.path.exists(place):
                self.read(place, module.child(name), os.path.join(folder, name))
        for place in places:
            place = bytes.fromhex(place).decode()
            place = os.path.normpath(os.path.join(os.path.dirname(file), place))
            if os.path.exists(place):
                self.read(place, module.child(name), os.path.dirname(place))

    def resolve(self, module, path, seen=()):
        """What a path in a module names: a module, or the files that define it; `None`: another crate's."""
        first, rest = path[0], path[1:]
        if first in ("crate", "$crate"):
            return self.descend(module.root(), rest, seen)
        if first == "self":
            return self.descend(module, rest, seen)
        if first == "super":
            return self.descend(module.parent or module, rest, seen, True)
        if first in module.children or first in module.items or first in module.uses or module.globs:
            found = self.descend(module, path, seen)
            if found is not None and found is not module:
                return found
        if self.library and module.root() is not self.library and first in self.own_name:
            return self.descend(self.library, rest, seen)
        return None

    def descend(self, module, path, seen, from_super=False):
        if not path:
            return module
        first, rest = path[0], path[1:]
        if first == "super" and from_super:
            return self.descend(module.parent or module, rest, seen, True)
        key = (id(module), first)
        if key in seen:
            return None
        seen = (*seen, key)
        if first in module.children:
            return self.descend(module.children[first], rest, seen)
        if first in module.items:
            return module.items[first]
        for target in module.uses.get(first, []):
            found = self.resolve(module, target, seen)
            if isinstance(found, Module):
                return self.descend(found, rest, seen)
            if found is not None:
                return found
        if first in module.uses:
            return None
        for target in module.globs:
            found = self.resolve(module, target, seen)
            if isinstance(found, Module) and found is not module:
                inner = self.descend(found, path, seen)
                if inner is not None and inner is not found:
                    return inner
        # A definition that is not found: the module itself.
        return module

    def arrows(self):
        arrows = defaultdict(set)

        def add(file, found):
            targets = set(found.files if isinstance(found, Module) else found or ())
            # A block within a file is that file. Of the files of one module, each is an alternative.
            if file not in targets:
                arrows[file] |= targets

        begun = defaultdict(set)
        for file, module, path in self.paths:
            begun[file].add(path[0])
            local = path[0] in module.items and path[0] not in module.children
            if not local:
                found = self.resolve(module, path)
                if found is not module:
                    add(file, found)
        for file, module, path, alias, public in self.imports:
            if alias == "*":
                if public:
                    continue
                target = self.resolve(module, path)
                if isinstance(target, Module):
                    named = self.words[file] & (set(target.items) | set(target.uses) | set(target.children))
                    for name in named:
                        add(file, self.descend(target, [name], ()))
                    if not named:
                        add(file, target)
                continue
            found = self.resolve(module, path)
            if public and alias not in self.words[file]:
                continue
            # Of a module that is imported, what is named by it counts.
            if isinstance(found, Module) and alias in begun[file]:
                continue
            add(file, found)
        return arrows

    def files(self):
        return sorted(self.read_files)


def components(nodes, arrows):
    """Strongly connected components, by Tarjan's algorithm without recursion."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(sorted(arrows.get(root, ()))))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(arrows.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                        if group[-1] == node:
                            break
                    found.append(sorted(group))
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("sources", nargs="+", metavar="SRC")
    arguments.add_argument("--most", type=int, default=10, metavar="N")
    arguments.add_argument("--arrows", action="store_true")
    given = arguments.parse_args()
    too_large = 0
    for src in given.sources:
        crate = Crate(os.path.normpath(src))
        files = crate.files()
        if not files:
            sys.exit(f"circles: {src}: no lib.rs, main.rs or bin")
        arrows = crate.arrows()
        circles = [group for group in components(files, arrows) if len(group) > 1]
        circles.sort(key=len, reverse=True)
        count = sum(len(targets) for targets in arrows.values())
        sizes = ", ".join(str(len(group)) for group in circles) or "none"
        print(f"{src}: {len(files)} files, {count} arrows, circles: {sizes}")
        for group in circles:
            names = [os.path.relpath(file, src) for file in group]
            mark = " (too large)" if len(group) > given.most else ""
            too_large += len(group) > given.most
            print(f"  {len(group)}{mark}: {' '.join(names)}")
            if given.arrows:
                for file in group:
                    inner = sorted(os.path.relpath(it, src) for it in arrows[file] if it in group)
                    print(f"    {os.path.relpath(file, src)} -> {' '.join(inner)}")
    if too_large:
        sys.exit(f"circles: FAILED, {too_large} circles of more than {given.most} files")


if __name__ == "__main__":
    main()
