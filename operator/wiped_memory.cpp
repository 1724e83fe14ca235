// Wipes all memory before it is freed, so that no token, password or boot data remains after its objects. A
// string that wipes itself would not suffice: JSON, HTTP and the standard library make copies, and each copy
// is freed here. Only the program and its test are linked with this file.
#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
// AddressSanitizer protects freed memory itself, and needs its own allocations back unchanged.
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

// The library's other forms, for arrays and known sizes, call these two.
void operator delete(void* memory) noexcept {
    wipe_and_free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
    wipe_and_free(memory);
}

#endif
