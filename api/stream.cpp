#include "api/stream.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>

#include "api/stream_handler.hpp"

namespace api {

namespace {

json::parse_options options() {
    json::parse_options result;
    result.max_depth = kMaxDepth + 2;  // more than DepthGuard allows
    return result;
}

bool opens(char c) {
    return c == '{' || c == '[';
}

bool closes(char c) {
    return c == '}' || c == ']';
}

// DeepCut removes the content of an object or list that is nested too deeply.
class DeepCut {
public:
    // Returns the rest of `text` from the end of that object or list; empty if it does not end here.
    std::string_view skip(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (is_text_) {
                if (is_escaped_)
                    is_escaped_ = false;
                else if (c == '\\')
                    is_escaped_ = true;
                else if (c == '"')
                    is_text_ = false;
            } else if (c == '"') {
                is_text_ = true;
            } else if (opens(c)) {
                ++depth_;
            } else if (closes(c) && depth_-- == 0) {
                return text.substr(i);
            }
        }
        return {};
    }

private:
    std::size_t depth_ = 0;
    bool is_text_ = false;
    bool is_escaped_ = false;
};

// Returns the beginning of `text` that opens at most `room` objects and lists; never empty.
std::string_view piece_of(std::string_view text, std::size_t room) {
    const auto openings = [](std::string_view piece) {
        return static_cast<std::size_t>(std::ranges::count_if(piece, opens));
    };
    while (text.size() > 1 && openings(text) > room) text = text.substr(0, text.size() / 2);
    return text;
}

// Returns the issue's place inside `place`; nullopt: it is elsewhere.
std::optional<std::string> place_in(std::string_view place, const std::string& pointer) {
    if (!pointer.starts_with(place)) return std::nullopt;
    auto rest = pointer.substr(place.size());
    if (!rest.empty() && rest.front() != '/') return std::nullopt;
    return rest;
}

std::size_t offset_of(const void* object, const void* part) {
    return static_cast<std::size_t>(static_cast<const char*>(part) - static_cast<const char*>(object));
}

// Returns a type for a pointer that decodes into the value it points to.
Type pointer_to(const Type& type) {
    Type pointer(Shape::Optional, &type);
    pointer.emplace = [](void* value) { return as<void*>(value); };
    pointer.clear = [](void*) {};
    return pointer;
}

struct WatchEnvelope {
    std::string type;
    void* object;
};

// Decodes the line, its object into `object`. Returns the event's type.
std::string decode_envelope(std::string_view line, void* object, const Type& type, DecodeIssues& issues) {
    WatchEnvelope envelope{{}, object};
    Type envelope_type(Shape::Object);
    envelope_type.fields.push_back({"type", offset_of(&envelope, &envelope.type), &type_of<std::string>()});
    const Type pointer = pointer_to(type);
    envelope_type.fields.push_back({"object", offset_of(&envelope, &envelope.object), &pointer});
    issues = decode_text_into(line, &envelope, envelope_type);
    return envelope.type;
}

// Returns Unrecognized for types of newer servers.
WatchEventType event_type(std::string_view name) {
    if (name == "ADDED") return WatchEventType::Added;
    if (name == "MODIFIED") return WatchEventType::Modified;
    if (name == "DELETED") return WatchEventType::Deleted;
    if (name == "BOOKMARK") return WatchEventType::Bookmark;
    if (name == "ERROR") return WatchEventType::Error;
    return WatchEventType::Unrecognized;
}

}  // namespace

class StreamDecoder::Parser {
public:
    Parser(void* target, const Type& type) : parser_(options(), target, type) {}

    void write(std::string_view chunk) {
        while (!chunk.empty()) {
            if (cut_) {
                chunk = cut_->skip(chunk);
                if (chunk.empty()) return;
                cut_.reset();
            }
            const auto piece = piece_of(chunk, kMaxDepth - std::min(kMaxDepth, handler().depth()));
            chunk.remove_prefix(piece.size());
            parse(piece, true);
            if (handler().depth() <= kMaxDepth) continue;
            handler().leave_out();
            cut_.emplace();
        }
    }
    void finish() { parse({}, false); }
    StreamHandler& handler() { return parser_.handler(); }

private:
    void parse(std::string_view piece, bool more) {
        boost::system::error_code error;
        const std::size_t size = parser_.write_some(more, piece.data(), piece.size(), error);
        if (!error && size < piece.size()) error = json::error::extra_data;
        if (error) throw ParseError("not a JSON document: " + error.message());
    }

    std::optional<DeepCut> cut_;
    json::basic_parser<StreamHandler> parser_;
};

StreamDecoder::StreamDecoder(void* target, const Type& type)
    : parser_(std::make_unique<Parser>(target, type)) {}

StreamDecoder::~StreamDecoder() = default;

void StreamDecoder::write(std::string_view chunk) {
    parser_->write(chunk);
}

void StreamDecoder::finish() {
    parser_->finish();
}

DecodeIssues StreamDecoder::take_issues() {
    return parser_->handler().take_issues();
}

DecodeIssues decode_text_into(std::string_view text, void* target, const Type& type) {
    StreamDecoder decoder(target, type);
    decoder.write(text);
    decoder.finish();
    return decoder.take_issues();
}

ListStream::ListStream(const Type& item, void* context, void* (*next)(void* context))
    : envelope_{{}, {context, next}},
      items_type_(Shape::List, &item),
      envelope_type_(Shape::Object),
      decoder_(&envelope_, envelope_type_) {
    items_type_.append = [](void* list) {
        const Items& items = as<Items>(list);
        return items.next(items.context);
    };
    items_type_.clear = [](void*) {};
    envelope_type_.fields = {
        {"metadata", offset_of(&envelope_, &envelope_.metadata), &type_of<ListMeta>()},
        {"items", offset_of(&envelope_, &envelope_.items), &items_type_},
    };
}

ListMeta ListStream::finish() {
    decoder_.finish();
    sort_issues();
    if (of_list_) throw *of_list_;
    return envelope_.metadata;
}

void ListStream::sort_issues() {
    auto issues = decoder_.take_issues();
    // "/items/7/spec" is "/spec" inside its item.
    const auto in_item = [](const std::string& pointer) -> std::optional<std::string> {
        const auto rest = place_in("/items", pointer);
        if (!rest || rest->empty()) return std::nullopt;
        const auto end = rest->find('/', 1);
        return end == std::string::npos ? std::string() : rest->substr(end);
    };
    if (issues.error) {
        const auto place = in_item(issues.error->pointer);
        if (!place && !of_list_) of_list_ = issues.error;
        if (place && !of_item_.error) of_item_.error.emplace(*place, issues.error->why);
    }
    for (auto& unknown : issues.unknown_values)
        of_item_.unknown_values.push_back({in_item(unknown.pointer).value_or(""), std::move(unknown.value)});
}

DecodeIssues ListStream::take_issues() {
    sort_issues();
    return std::exchange(of_item_, {});
}

WatchEventType decode_watch_event_into(std::string_view line, void* object, const Type& type, Status& status,
                                       DecodeIssues& issues) {
    constexpr std::string_view kObject = "/object";
    DecodeIssues found;
    const auto event = event_type(decode_envelope(line, object, type, found));
    if (event == WatchEventType::Error) {
        // The object of an ERROR is a Status and may not match the watched kind.
        decode_envelope(line, &status, type_of<Status>(), found);
        return event;
    }
    if (found.error)
        issues.error.emplace(place_in(kObject, found.error->pointer).value_or(""), found.error->why);
    for (auto& unknown : found.unknown_values)
        issues.unknown_values.push_back(
            {place_in(kObject, unknown.pointer).value_or(""), std::move(unknown.value)});
    return event;
}

}  // namespace api
