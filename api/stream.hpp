// Decodes JSON as it arrives, straight into described structs: no DOM, and what is not described is
// skipped without being stored. For large lists and busy watches; the result is that of decode().
// (Exception: of a key that an object holds twice, the later value is laid over the earlier one.)
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "api/json.hpp"
#include "api/meta.hpp"
#include "api/type.hpp"

namespace api {

// Text that is no JSON document, or not all of one.
struct ParseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One document into one object. After an exception the decoder can't be used any more.
class StreamDecoder {
public:
    // `target` points to a default-constructed instance of the type; both outlive the decoder.
    StreamDecoder(void* target, const Type& type);
    ~StreamDecoder();
    StreamDecoder(const StreamDecoder&) = delete;
    StreamDecoder& operator=(const StreamDecoder&) = delete;

    // Chunks may end anywhere. Throws DecodeError and ParseError.
    void write(std::string_view chunk);
    // Throws ParseError if the document is not complete.
    void finish();

private:
    class Parser;
    std::unique_ptr<Parser> parser_;
};

// A whole document at once. Throws DecodeError and ParseError.
void decode_text_into(std::string_view text, void* target, const Type& type);

template <class T>
T decode_text(std::string_view text) {
    T result{};
    decode_text_into(text, &result, type_of<T>());
    return result;
}

// The untyped core of ListDecoder.
class ListStream {
public:
    // `next` is called before each item and returns where to decode it to.
    ListStream(const Type& item, void* context, void* (*next)(void* context));
    ListStream(const ListStream&) = delete;
    ListStream& operator=(const ListStream&) = delete;

    void write(std::string_view chunk) { decoder_.write(chunk); }
    ListMeta finish();

private:
    struct Items {
        void* context;
        void* (*next)(void* context);
    };
    struct Envelope {
        ListMeta metadata;
        Items items;
    };

    Envelope envelope_;
    Type items_type_;
    Type envelope_type_;
    StreamDecoder decoder_;
};

// A list ({"kind":"PodList","metadata":{...},"items":[...]}), item by item as they become complete.
template <class T>
class ListDecoder {
public:
    using OnItem = std::function<void(T&&)>;

    explicit ListDecoder(OnItem on_item) : on_item_(std::move(on_item)), stream_(type_of<T>(), this, next) {}

    // Throws DecodeError, ParseError and what the callback throws.
    void write(std::string_view chunk) { stream_.write(chunk); }
    // Delivers the last item. Throws ParseError if the document is not complete.
    ListMeta finish() {
        ListMeta metadata = stream_.finish();
        deliver();
        return metadata;
    }

private:
    static void* next(void* context) {
        auto& self = *static_cast<ListDecoder*>(context);
        self.deliver();
        return &self.item_.emplace();
    }
    void deliver() {
        if (!item_) return;
        T item = std::move(*item_);
        item_.reset();
        on_item_(std::move(item));
    }

    OnItem on_item_;
    std::optional<T> item_;
    ListStream stream_;
};

enum class WatchEventType { Added, Modified, Deleted, Bookmark, Error };

template <class T>
struct WatchEvent {
    WatchEventType type = WatchEventType::Error;
    T object{};     // of a Bookmark only metadata.resourceVersion and annotations are meaningful
    Status status;  // of an Error
};

// Decodes `object` unless the event is an error; fills `status` then. Throws DecodeError and ParseError.
WatchEventType decode_watch_event_into(std::string_view line, void* object, const Type& type, Status& status);

// One line of a watch ({"type":"ADDED","object":{...}}).
template <class T>
WatchEvent<T> decode_watch_event(std::string_view line) {
    WatchEvent<T> event;
    event.type = decode_watch_event_into(line, &event.object, type_of<T>(), event.status);
    return event;
}

}  // namespace api
