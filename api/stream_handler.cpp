#include "api/stream_handler.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include "api/scalar.hpp"
#include "base/text.hpp"

namespace api {

namespace {

// Adds one escaped reference token to a JSON Pointer (RFC 6901).
void append_pointer(std::string& pointer, std::string_view key) {
    pointer += '/';
    for (const char c : key) {
        if (c == '~')
            pointer += "~0";
        else if (c == '/')
            pointer += "~1";
        else
            pointer += c;
    }
}

}  // namespace

void StreamHandler::replay(const json::value& value) {
    if (ignoring()) return;
    Error none;
    if (const auto* object = value.if_object()) {
        begin(true);
        for (const auto& [key, member] : *object) {
            on_key(key, key.size(), none);
            replay(member);
        }
        end(true, object->size());
    } else if (const auto* array = value.if_array()) {
        begin(false);
        for (const json::value& element : *array) replay(element);
        end(false, array->size());
    } else if (const auto* text = value.if_string()) {
        on_string(*text, text->size(), none);
    } else {
        scalar(value);
    }
}

bool StreamHandler::ignoring() const {
    if (skipping_ > 0) return true;
    if (depth_ == 0) return false;
    const Frame& frame = frames_[depth_ - 1];
    return frame.place.type->shape == Shape::Object && !frame.field;
}

StreamHandler::Place StreamHandler::next_place() {
    if (depth_ == 0) return root_;
    Frame& frame = top();
    const Type& type = *frame.place.type;
    switch (type.shape) {
        case Shape::List:
            ++frame.count;
            return {type.element, type.append(frame.place.value)};
        case Shape::Map:
            return {type.element, type.insert(frame.place.value, frame.key)};
        default:
            return {frame.field->type, member(frame.place.value, *frame.field)};
    }
}

void StreamHandler::push(Place place) {
    if (depth_ == frames_.size()) frames_.emplace_back();
    ++depth_;
    Frame& frame = top();
    frame.place = place;
    frame.field = nullptr;
    frame.next_field = 0;
    frame.count = 0;
}

void StreamHandler::choose_field(Frame& frame, std::string_view name) {
    const auto& fields = frame.place.type->fields;
    frame.field = nullptr;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        std::size_t index = frame.next_field + i;
        if (index >= fields.size()) index -= fields.size();
        if (fields[index].name != name) continue;
        frame.field = &fields[index];
        frame.next_field = index + 1 < fields.size() ? index + 1 : 0;
        return;
    }
}

std::string_view StreamHandler::complete(Text last) {
    if (partial_.empty()) return {last.data(), last.size()};
    partial_.append(last.data(), last.size());
    return {partial_.data(), partial_.size()};
}

bool StreamHandler::part(Text text, bool ignored) {
    if (collecting_)
        stack_.push_chars(text);
    else if (!ignored)
        partial_.append(text.data(), text.size());
    return true;
}

bool StreamHandler::on_key(Text text, std::size_t, Error&) {
    if (collecting_) {
        stack_.push_key(text);
        return true;
    }
    if (skipping_ > 0) return true;
    const std::string_view key = complete(text);
    if (top().place.type->shape == Shape::Map)
        top().key = key;
    else
        choose_field(top(), key);
    partial_.clear();
    return true;
}

bool StreamHandler::on_string(Text text, std::size_t, Error&) {
    if (collecting_) {
        stack_.push_string(text);
        end_collected_value();
        return true;
    }
    if (ignoring()) return true;
    const Place place = next_place();
    const auto whole = complete(text);
    try {
        if (!assign_string(*place.type, place.value, whole)) note_unknown(whole);
    } catch (const Mismatch& error) {
        note(error.why);
    }
    partial_.clear();
    return true;
}

bool StreamHandler::scalar(const json::value& value) {
    if (collecting_) {
        if (const auto* number = value.if_int64())
            stack_.push_int64(*number);
        else if (const auto* large = value.if_uint64())
            stack_.push_uint64(*large);
        else if (const auto* real = value.if_double())
            stack_.push_double(*real);
        else if (const auto* boolean = value.if_bool())
            stack_.push_bool(*boolean);
        else
            stack_.push_null();
        end_collected_value();
        return true;
    }
    if (ignoring()) return true;
    // A member that is null counts as absent.
    if (value.is_null() && depth_ > 0 && top().place.type->shape == Shape::Object) return true;
    const Place place = next_place();
    try {
        assign_scalar(*place.type, place.value, value);
    } catch (const Mismatch& error) {
        note(error.why);
    }
    return true;
}

bool StreamHandler::begin(bool object) {
    if (collecting_) {
        ++collected_depth_;
        return true;
    }
    if (ignoring()) {
        ++skipping_;
        return true;
    }
    Place place = next_place();
    while (place.type->shape == Shape::Optional)
        place = {place.type->element, place.type->emplace(place.value)};
    const Shape shape = place.type->shape;
    if (shape == Shape::Any) {
        begin_collecting(place.value);
        return true;
    }
    const bool fits = object ? shape == Shape::Object || shape == Shape::Map : shape == Shape::List;
    if (!fits) {
        note(expectation(*place.type));
        ++skipping_;
        return true;
    }
    if (shape != Shape::Object) place.type->clear(place.value);
    push(place);
    return true;
}

bool StreamHandler::end(bool object, std::size_t size) {
    if (collecting_) {
        if (object)
            stack_.push_object(size);
        else
            stack_.push_array(size);
        --collected_depth_;
        end_collected_value();
    } else if (skipping_ > 0) {
        --skipping_;
    } else {
        --depth_;
    }
    return true;
}

void StreamHandler::begin_collecting(void* target) {
    collecting_ = target;
    collected_depth_ = 1;
    stack_.reset();
}

void StreamHandler::end_collected_value() {
    if (collected_depth_ > 0) return;
    as<json::value>(collecting_) = stack_.release();
    collecting_ = nullptr;
}

void StreamHandler::note(std::string_view why) {
    if (!issues_.error) issues_.error.emplace(pointer(), why);
}

void StreamHandler::note_unknown(std::string_view value) {
    constexpr std::size_t kMostValues = 8;
    constexpr std::size_t kLongestValue = 64;
    if (issues_.unknown_values.size() < kMostValues)
        issues_.unknown_values.push_back({pointer(), std::string(base::beginning(value, kLongestValue))});
}

std::string StreamHandler::pointer() const {
    std::string pointer;
    for (std::size_t i = 0; i < depth_; ++i) {
        const Frame& frame = frames_[i];
        if (frame.place.type->shape == Shape::List)
            append_pointer(pointer, std::to_string(frame.count - 1));
        else
            append_pointer(pointer, frame.field ? frame.field->name : std::string_view(frame.key));
    }
    return pointer;
}

}  // namespace api
