# Completions of manycore-omp for bash: its options, then a command with its own completions.
_manycore_omp() {
    local word=${COMP_WORDS[COMP_CWORD]} first=1
    [[ ${COMP_WORDS[1]} == --check ]] && first=2
    if ((COMP_CWORD == 1)) && [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '--check --library --help' -- "$word")
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    else
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    fi
}
complete -F _manycore_omp manycore-omp
