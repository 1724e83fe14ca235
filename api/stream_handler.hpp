// Applies the parser's events to a described value. Only api/*.cpp include it.
#pragma once
#include <boost/json/value_stack.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/type.hpp"

namespace api {

// StreamHandler is the handler of boost::json::basic_parser. Keys and strings may arrive in parts. A value is
// assigned (its place is described), collected (its place accepts any JSON) or skipped. A mismatch is noted
// and skipped.
class StreamHandler {
public:
    using Error = boost::system::error_code;
    using Text = json::string_view;

    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

    // `target` must point to a default-constructed instance of the type; both must outlive the handler.
    StreamHandler(void* target, const Type& type) : root_{&type, target} {}

    // Handles the events of an existing value.
    void replay(const json::value& value);

    // Returns the issues since the last call.
    DecodeIssues take_issues() { return std::exchange(issues_, {}); }
    // Returns the number of open objects and lists.
    std::size_t depth() const { return depth_ + skipping_ + collected_depth_; }
    // Notes that the open value is nested too deeply to be read.
    void leave_out() {
        if (skipping_ == 0) note("nested too deeply");
    }

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    bool on_object_begin(Error&) { return begin(true); }
    bool on_object_end(std::size_t size, Error&) { return end(true, size); }
    bool on_array_begin(Error&) { return begin(false); }
    bool on_array_end(std::size_t size, Error&) { return end(false, size); }
    bool on_key_part(Text text, std::size_t, Error&) { return part(text, skipping_ > 0); }
    bool on_key(Text text, std::size_t, Error&);
    bool on_string_part(Text text, std::size_t, Error&) { return part(text, ignoring()); }
    bool on_string(Text text, std::size_t, Error&);
    bool on_number_part(Text, Error&) { return true; }
    bool on_int64(std::int64_t number, Text, Error&) { return scalar(number); }
    bool on_uint64(std::uint64_t number, Text, Error&) { return scalar(number); }
    bool on_double(double number, Text, Error&) { return scalar(number); }
    bool on_bool(bool value, Error&) { return scalar(value); }
    bool on_null(Error&) { return scalar(nullptr); }
    bool on_comment_part(Text, Error&) { return true; }
    bool on_comment(Text, Error&) { return true; }

private:
    struct Place {
        const Type* type = nullptr;
        void* value = nullptr;
    };
    // Frame is an open object, list or map.
    struct Frame {
        Place place;
        const FieldDescriptor* field = nullptr;  // Object: the next member
        std::size_t next_field = 0;              // Object: first guess, as servers write members in order
        std::size_t count = 0;                   // List: elements so far
        std::string key;                         // Map: the key of the next element
    };

    Frame& top() { return frames_[depth_ - 1]; }
    // Reports whether the next value has no place.
    bool ignoring() const;
    // Returns the place of the next value; it must have one (see ignoring).
    Place next_place();
    void push(Place place);
    void choose_field(Frame& frame, std::string_view name);
    // Returns the complete text that ends with `last`.
    std::string_view complete(Text last);

    bool begin(bool object);
    bool end(bool object, std::size_t size);
    bool part(Text text, bool ignored);
    bool scalar(const json::value& value);
    void begin_collecting(void* target);
    void end_collected_value();
    // Returns the place of the last placed value.
    std::string pointer() const;
    void note(std::string_view why);
    void note_unknown(std::string_view value);

    Place root_;
    DecodeIssues issues_;
    std::vector<Frame> frames_;  // the first depth_ are open; the others keep their strings' memory
    std::size_t depth_ = 0;
    std::size_t skipping_ = 0;  // open containers without a place
    std::string partial_;

    void* collecting_ = nullptr;       // the json::value in progress
    std::size_t collected_depth_ = 0;  // its open containers
    json::value_stack stack_;
};

}  // namespace api
