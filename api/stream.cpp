#include "api/stream.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include "api/stream_handler.hpp"

namespace api {

namespace {

json::parse_options options() {
    json::parse_options result;
    // Boost's default of 32 is less than what managedFields and free-form settings may need.
    result.max_depth = 512;
    return result;
}

std::size_t offset_of(const void* object, const void* part) {
    return static_cast<std::size_t>(static_cast<const char*>(part) - static_cast<const char*>(object));
}

// A value that lives elsewhere: a pointer to it that decodes as the value would.
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

// Decodes the line, its object into `object`; without one the object is skipped. Returns the event's type.
std::string decode_envelope(std::string_view line, void* object, const Type* type) {
    WatchEnvelope envelope{{}, object};
    Type envelope_type(Shape::Object);
    envelope_type.fields.push_back({"type", offset_of(&envelope, &envelope.type), &type_of<std::string>()});
    const Type pointer = type ? pointer_to(*type) : Type(Shape::Any);
    if (type) envelope_type.fields.push_back({"object", offset_of(&envelope, &envelope.object), &pointer});
    decode_text_into(line, &envelope, envelope_type);
    return envelope.type;
}

WatchEventType event_type(std::string_view name) {
    if (name == "ADDED") return WatchEventType::Added;
    if (name == "MODIFIED") return WatchEventType::Modified;
    if (name == "DELETED") return WatchEventType::Deleted;
    if (name == "BOOKMARK") return WatchEventType::Bookmark;
    if (name == "ERROR") return WatchEventType::Error;
    throw DecodeError("/type", "unknown kind of watch event");
}

}  // namespace

class StreamDecoder::Parser {
public:
    Parser(void* target, const Type& type) : parser_(options(), target, type) {}

    void write(std::string_view chunk, bool more) {
        boost::system::error_code error;
        const std::size_t size = parser_.write_some(more, chunk.data(), chunk.size(), error);
        if (!error && size < chunk.size()) error = json::error::extra_data;
        if (error) throw ParseError("not a JSON document: " + error.message());
    }

private:
    json::basic_parser<StreamHandler> parser_;
};

StreamDecoder::StreamDecoder(void* target, const Type& type)
    : parser_(std::make_unique<Parser>(target, type)) {}

StreamDecoder::~StreamDecoder() = default;

void StreamDecoder::write(std::string_view chunk) {
    parser_->write(chunk, true);
}

void StreamDecoder::finish() {
    parser_->write({}, false);
}

void decode_text_into(std::string_view text, void* target, const Type& type) {
    StreamDecoder decoder(target, type);
    decoder.write(text);
    decoder.finish();
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
    return envelope_.metadata;
}

WatchEventType decode_watch_event_into(std::string_view line, void* object, const Type& type,
                                       Status& status) {
    WatchEventType event;
    try {
        event = event_type(decode_envelope(line, object, &type));
    } catch (const DecodeError&) {
        // The object of an ERROR is a Status, which need not look like the kind that is watched.
        if (decode_envelope(line, nullptr, nullptr) != "ERROR") throw;
        event = WatchEventType::Error;
    }
    if (event == WatchEventType::Error) decode_envelope(line, &status, &type_of<Status>());
    return event;
}

}  // namespace api
