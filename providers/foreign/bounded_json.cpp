#include "providers/foreign/bounded_json.hpp"

#include <boost/json/memory_resource.hpp>
#include <boost/json/parser.hpp>
#include <new>
#include <string>

namespace providers::foreign {

namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kBytesPerMiB = 1024 * 1024;

class BoundedMemory final : public json::memory_resource {
private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes > left_) throw std::bad_alloc();
        void* memory = heap_->allocate(bytes, alignment);
        left_ -= bytes;
        return memory;
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        heap_->deallocate(memory, bytes, alignment);
        left_ += bytes;
    }
    bool do_is_equal(const json::memory_resource& other) const noexcept override { return this == &other; }

    json::storage_ptr heap_;
    std::size_t left_ = kMostMemory;
};

}  // namespace

TooLarge::TooLarge()
    : std::runtime_error("takes more than the " + std::to_string(kMostMemory / kBytesPerMiB) +
                         " MiB of memory that an answer may take") {}

std::optional<json::value> parse(std::string_view text, bool allow_invalid_utf8, std::size_t* stopped_at) {
    json::parse_options options;
    options.max_depth = kMaxDepth;
    options.allow_invalid_utf8 = allow_invalid_utf8;
    const auto memory = json::make_shared_resource<BoundedMemory>();
    try {
        json::parser parser(memory, options);
        parser.reset(memory);
        boost::system::error_code error;
        const auto read = parser.write_some(text, error);
        if (!error && read < text.size()) error = json::make_error_code(json::error::extra_data);
        if (error && stopped_at) *stopped_at = read;
        if (error) return std::nullopt;
        return parser.release();
    } catch (const std::bad_alloc&) {
        throw TooLarge();
    }
}

}  // namespace providers::foreign
