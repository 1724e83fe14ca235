// Freed memory holds nothing of its former content, whoever gets it next.
#include <malloc.h>

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/catch.hpp"

namespace {

constexpr std::string_view kSecret = "not-for-others-";
// The allocator keeps its own data at the start of free memory.
constexpr std::size_t kNotes = 2 * sizeof(void*);

std::string secret_of(std::size_t size) {
    std::string text;
    while (text.size() < size) text += kSecret;
    text.resize(size);
    return text;
}

// Counts secrets in used memory of that size, as far as the allocator hands it out again.
std::size_t traces_in_used_memory(std::size_t size) {
    std::vector<void*> blocks;
    std::size_t traces = 0;
    for (int i = 0; i < 100; ++i) {
        blocks.push_back(std::malloc(size));
        const std::string_view content(static_cast<const char*>(blocks.back()), size);
        if (content.substr(kNotes).find(kSecret) != std::string_view::npos) ++traces;
    }
    for (auto* block : blocks) std::free(block);
    return traces;
}

}  // namespace

TEST_CASE("strings leave nothing of what they held in memory, nor do those that grew or were copied") {
    for (const std::size_t size : {64UL, 500UL, 4000UL, 60000UL}) {
        INFO(size);
        {
            std::vector<std::string> copies(50, secret_of(size));
            copies.front() += secret_of(size);
            copies.resize(60);
        }
        CHECK(traces_in_used_memory(size + 1) == 0);
    }
}

TEST_CASE("objects with an alignment of their own leave nothing either") {
    struct alignas(64) Page {
        char text[960];
    };
    {
        const std::vector<Page> pages(50);
        std::vector<Page> secrets = pages;
        for (auto& page : secrets) secret_of(sizeof page.text).copy(page.text, sizeof page.text);
    }
    CHECK(traces_in_used_memory(sizeof(Page) * 50) == 0);
}
