// Decodes JSON as it arrives, directly into described structs. It needs no DOM and skips other data without
// storing it. It is for large lists and busy watches; the result equals that of decode(). (Exception: if an
// object has a key twice, the later value is merged into the earlier one.)
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "api/json.hpp"
#include "api/meta.hpp"
#include "api/type.hpp"

namespace api {

// Limit of the nesting of objects and lists. managedFields and free-form settings need more than Boost's 32
// levels. The API server stores far deeper values, but the parser recurses for each level.
inline constexpr std::size_t kMaxDepth = 512;

// ParseError means that a text is no complete JSON document.
struct ParseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// StreamDecoder decodes one document into one object. It is unusable after an exception.
class StreamDecoder {
public:
    // `target` must point to a default-constructed instance of the type; both must outlive the decoder.
    StreamDecoder(void* target, const Type& type);
    ~StreamDecoder();
    StreamDecoder(const StreamDecoder&) = delete;
    StreamDecoder& operator=(const StreamDecoder&) = delete;

    // Chunks may end anywhere. Throws ParseError.
    void write(std::string_view chunk);
    // Throws ParseError if the document is not complete.
    void finish();
    // Returns the issues since the last call.
    DecodeIssues take_issues();

private:
    class Parser;
    std::unique_ptr<Parser> parser_;
};

// Decodes a whole document. Throws ParseError.
[[nodiscard]] DecodeIssues decode_text_into(std::string_view text, void* target, const Type& type);

// Throws DecodeError and ParseError.
template <class T>
T decode_text(std::string_view text) {
    T result{};
    settle(decode_text_into(text, &result, type_of<T>()), result);
    return result;
}

// The untyped core of ListDecoder.
class ListStream {
public:
    // `next` is called before each item and returns the target of its decoding.
    ListStream(const Type& item, void* context, void* (*next)(void* context));
    ListStream(const ListStream&) = delete;
    ListStream& operator=(const ListStream&) = delete;

    void write(std::string_view chunk) { decoder_.write(chunk); }
    ListMeta finish();
    // Returns the issues of the complete item, with their places in it. Call it once for each item.
    DecodeIssues take_issues();

private:
    // Stores issues outside of items.
    void sort_issues();

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
    DecodeIssues of_item_;
    std::optional<DecodeError> of_list_;
};

// ListDecoder decodes a list ({"kind":"PodList","metadata":{...},"items":[...]}) and delivers each complete
// item.
template <class T>
class ListDecoder {
public:
    using OnItem = std::function<void(T&&)>;
    // Takes the readable part of an item that does not match its type, and the error.
    using OnMisfit = std::function<void(T&&, const DecodeError&)>;

    // Without `on_misfit` such an item ends the list with its DecodeError.
    explicit ListDecoder(OnItem on_item, OnMisfit on_misfit = {})
        : on_item_(std::move(on_item)), on_misfit_(std::move(on_misfit)), stream_(type_of<T>(), this, next) {}

    // Throws DecodeError, ParseError and exceptions of the callbacks.
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
        const auto index = count_++;
        auto issues = stream_.take_issues();
        if (issues.error && on_misfit_) return on_misfit_(std::move(item), *issues.error);
        if (issues.error)
            throw DecodeError("/items/" + std::to_string(index) + issues.error->pointer, issues.error->why);
        settle(std::move(issues), item);
        on_item_(std::move(item));
    }

    OnItem on_item_;
    OnMisfit on_misfit_;
    std::size_t count_ = 0;
    std::optional<T> item_;
    ListStream stream_;
};

enum class WatchEventType { Added, Modified, Deleted, Bookmark, Error, Unrecognized };

template <class T>
struct WatchEvent {
    WatchEventType type = WatchEventType::Error;
    T object{};     // a Bookmark only has metadata.resourceVersion and annotations
    Status status;  // of an Error
    // Error if the object does not match its type; it then has the readable part.
    std::optional<DecodeError> misfit;
};

// Decodes `object`, or `status` if the event is an error. The places of issues are relative to the object.
// Throws ParseError.
WatchEventType decode_watch_event_into(std::string_view line, void* object, const Type& type, Status& status,
                                       DecodeIssues& issues);

// Decodes one line of a watch ({"type":"ADDED","object":{...}}). Throws ParseError.
template <class T>
WatchEvent<T> decode_watch_event(std::string_view line) {
    WatchEvent<T> event;
    DecodeIssues issues;
    event.type = decode_watch_event_into(line, &event.object, type_of<T>(), event.status, issues);
    event.misfit = std::exchange(issues.error, std::nullopt);
    settle(std::move(issues), event.object);
    return event;
}

}  // namespace api
