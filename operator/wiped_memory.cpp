// Wipes all memory before it is given back, so that nothing of a token, a password or boot data outlives the
// objects that held it. A string that wipes itself would not do: JSON, HTTP and the standard library copy
// what they are given, and each copy ends here. Only the program is linked with this file, and its test.
#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
// AddressSanitizer keeps freed memory from others itself, and takes it back only as it gave it.
#if !__has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)

#include <malloc.h>
#include <openssl/crypto.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void wipe_and_free(void* memory) noexcept {
    if (!memory) return;
    OPENSSL_cleanse(memory, malloc_usable_size(memory));
    std::free(memory);
}

}  // namespace

// The library's other forms, of arrays and of known size, call these two.
void operator delete(void* memory) noexcept {
    wipe_and_free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
    wipe_and_free(memory);
}

#endif
