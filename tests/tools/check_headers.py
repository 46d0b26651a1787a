"""A file includes a header of the C library only for names that it uses: check_headers.py FILE..."""

import re
import sys

NAMES = {                                   # by header: what only it declares, as one expression
    "string.h": r"(mem(ccpy|chr|cmp|cpy|move|set)|str(cat|chr|cmp|cpy|cspn|dup|error|len|n\w+|pbrk|rchr|spn|str|tok(_r)?))\(",
    "stdlib.h": r"\w*alloc\(|free\(|free\b|qsort\(|bsearch\(|exit\(|abort\(|strto\w+\(|get\w*env\(|EXIT_|system\(|mkdtemp\(|mkstemp\(|realpath\(|l?l?abs\(|ato\w+\(",
    "ctype.h": r"(is[a-z]+|to(upper|lower))\(",
    "inttypes.h": r"(PRI|SCN)[a-zA-Z]\w+|strto[iu]max\(",
    "limits.h": r"[A-Z]+_(MAX|MIN|BIT)\b",
    "float.h": r"(FLT|DBL|LDBL)_",
    "errno.h": r"errno|E[A-Z]{3,}\b",
    "stdarg.h": r"va_",
}


def main(paths):
    found = 0
    for path in paths:
        with open(path) as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for header in re.findall(r"^#include <(\w+\.h)>", text, re.M):
            if header in NAMES and not re.search(r"\b(?:" + NAMES[header] + ")", text):
                print(f"{path}: nothing of {header} is used")
                found += 1
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
