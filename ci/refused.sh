#!/usr/bin/env bash
# The compiler refuses code that holds the number of a permit across a call of the user's.
#
# Such code was a double free, twice (`runtime/manycore/src/pool/permit/mod.rs` says how). Each case
# here puts one of the old patterns back into a copy of the crate, and expects the compiler's error
# that names the private function. A case whose line is not found any more is an error as well.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/runtime"
cp -r runtime/platform runtime/cores runtime/manycore "$work/runtime"
# The three crates alone, without their tests, which need others.
python3 - "$work" <<'PY'
import re, sys
from pathlib import Path

work = Path(sys.argv[1])


def cut(text, unwanted):
    """The sections of a manifest but those whose headers match."""
    sections = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    return "".join(part for part in sections if not re.match(unwanted, part))


root = cut(Path("Cargo.toml").read_text(), r"\[profile")
root = re.sub(r'members = \[.*\]', 'members = ["runtime/platform", "runtime/cores", "runtime/manycore"]', root)
root = re.sub(r"default-members = .*", "", root)
(work / "Cargo.toml").write_text(root)
for crate in "cores", "manycore":
    manifest = work / f"runtime/{crate}/Cargo.toml"
    manifest.write_text(cut(manifest.read_text(), r"\[\[|\[target.*dev-dependencies|\[dev-dependencies"))
PY
cp Cargo.lock "$work/"

# refuse NAME FILE LINE-BEFORE-WHICH CODE ERROR
refuse() {
    local name=$1 file=$work/runtime/manycore/src/$2 before=$3 code=$4 error=$5 said
    cp "$file" "$work/kept"
    python3 - "$file" "$before" "$code" <<'PY'
import sys

path, before, code = sys.argv[1:]
text = open(path).read()
if text.count(before) != 1:
    sys.exit(f"refused: {path}: expected one line {before!r}; found {text.count(before)}")
open(path, "w").write(text.replace(before, code + "\n" + before))
PY
    if said=$(cd "$work" && cargo check --offline --quiet -p manycore 2>&1); then
        echo "refused: $name: the compiler accepts it" >&2
        exit 1
    fi
    if ! grep -qF "$error" <<<"$said"; then
        printf 'refused: %s: expected the error "%s"; found\n%s\n' "$name" "$error" "$said" >&2
        exit 1
    fi
    printf '%-50s %s\n' "$name" "$error"
    cp "$work/kept" "$file"
}

# As it is, it compiles: what fails below fails for the line that was added.
(cd "$work" && cargo check --offline --quiet -p manycore)
refuse 'a rank that a loop read before it ran iterations' loops/share.rs \
    '            done = self.run_before_posting(done);' \
    '            let rank = Context::current(pool.shared(), |context| context.rank);' \
    'associated function `current` is private'
refuse 'a permit that a worker read before it stood aside' pool/work.rs \
    '                self.leave_the_core();' \
    '                let me = self.permit();' \
    'method `permit` is private'
refuse 'a slot of the board that is taken by an old permit' loops/share.rs \
    '            done = self.run_before_posting(done);' \
    '            let rank = Context::slot(|context| context.unwrap().rank);' \
    'field `rank` of struct'
