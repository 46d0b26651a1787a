#!/bin/sh
# Writes a manual page: man.sh PROGRAM TEMPLATE. The line @OPTIONS@ of the template becomes the options that PROGRAM --help lists,
# so that there is one text of each; @VERSION@ becomes the last word of the first line that occamyc --version prints ($3).
set -eu
"$1" --help | awk -v version="$3" -v template="$2" '
function roff(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); sub(/^[.'"'"']/, "\\\\\\&&", text); return text }
function put(line) { options = options line "\n" }
/^  -/ {
    line = substr($0, 3); at = match(line, /   *[^ ]/)
    put(".TP"); put(".B " roff(at ? substr(line, 1, at - 1) : line))
    if (at) { sub(/^.*   */, "", line); text = substr($0, 3); text = substr(text, at); sub(/^ */, "", text); put(roff(text)) }
    open = 1; next
}
/^          / && open { sub(/^ */, ""); put(roff($0)); next }
{ open = 0 }
END {
    while ((getline line < template) > 0) {
        if (line == "@OPTIONS@") printf "%s", options
        else { gsub(/@VERSION@/, version, line); print line }
    }
}'
