# The loader of weights, runtime/swap.h: the right bytes from a system that fails on purpose, and what it asks of one that does
# not; plain, under ThreadSanitizer and the other sanitizers, and as it is on systems that are not Linux. Included by tests.mk.

LOADER_TESTS   := $(addprefix $(BUILD)/tests/loader/,loader loader-race loader-san quiet quiet-race quiet-san quiet-plain quiet-inline)
LOADER_HEADERS := $(wildcard runtime/swap*.h)
LOADER_FLAGS   := -g -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror
LOADER_race    := -fsanitize=thread -DSWAP_CHECKED
LOADER_san     := -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSWAP_CHECKED
LOADER_plain   := -DOCC_SWAP_PLAIN -DSWAP_CHECKED
LOADER_inline  := -DOCC_SWAP_INLINE -DSWAP_CHECKED

$(filter %/loader %/loader-race %/loader-san,$(LOADER_TESTS)): tests/loader/test_loader.c tests/loader/faults.h
$(filter-out $(BUILD)/tests/loader/loader%,$(LOADER_TESTS)): tests/loader/test_quiet.c
$(LOADER_TESTS): tests/loader/weights_file.h $(LOADER_HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(LOADER_FLAGS) $(LOADER_$(lastword $(subst -, ,$(notdir $@)))) -DSWAP_FOLDER='"$(@D)"' -o $@ $(filter %.c,$^) -lcmocka -pthread

# Users' programs are of many kinds.
check-swap-headers: $(LOADER_HEADERS)
	@for h in $^; do for c in 'gcc -std=c99 -D_GNU_SOURCE -x c' 'gcc -std=c11 -D_POSIX_C_SOURCE=200809L -x c' \
	    'clang -std=c11 -D_GNU_SOURCE -Wsign-conversion -x c' 'g++ -std=c++11 -x c++' 'clang++ -std=c++17 -x c++'; do \
	    echo "#include \"$$h\"" | $$c -I. -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror - || exit 1; done; done

check-swap-loader: check-swap-headers $(LOADER_TESTS)
	@for t in $(LOADER_TESTS); do $$t || exit 1; done

.PHONY: check-swap-loader check-swap-headers
