#include "api/size.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <utility>

#include "api/kept_node.hpp"
#include "api/names.hpp"

namespace api {

namespace {

constexpr std::size_t kAllocation = 16;                  // overhead of an allocation
constexpr std::size_t kInline = 15;                      // characters inside a string object
constexpr std::size_t kMapNode = 32 + kAllocation;       // links and colour
constexpr std::size_t kControlBlock = 16 + kAllocation;  // of a shared pointer
constexpr std::size_t kParsed = 4;                       // free-form JSON needs this multiple of its text
constexpr std::size_t kLongestName = 256;                // texts up to this length are not cut

std::size_t text_bytes(std::size_t size) {
    return size <= kInline ? 0 : size + 1 + kAllocation;
}

// Returns the size of one element of a list or map, without what it points to.
std::size_t place_bytes(const Type& container, std::string_view key) {
    const auto own = container.element->bytes;
    if (container.shape != Shape::Map) return own;
    return own + sizeof(std::string) + text_bytes(key.size()) + kMapNode;
}

std::size_t elements_bytes(const void* container, const Type& type) {
    struct Sum {
        const Type& type;
        std::size_t bytes = 0;
    } sum{type};
    type.each(container, &sum, [](void* context, std::string_view key, const void* element) {
        auto& so_far = as<Sum>(context);
        so_far.bytes += heap_bytes(element, *so_far.type.element);
        if (so_far.type.shape != Shape::Optional) so_far.bytes += place_bytes(so_far.type, key);
        if (so_far.type.shared) so_far.bytes += so_far.type.element->bytes + kControlBlock;
    });
    return sum.bytes;
}

bool is_container(const Type& type) {
    return type.shape == Shape::List || type.shape == Shape::Map;
}

// Keeps the elements that fit into `room`, in order. Elements that do not fit keep as much content as
// possible.
void fit_elements(void* container, const Type& type, std::size_t& room);

// Returns false if the value cannot fit, even without all its parts.
bool fit(void* value, const Type& type, std::size_t& room) {
    if (type.shape == Shape::String) as<std::string>(value).shrink_to_fit();
    const auto whole = heap_bytes(value, type);
    if (whole <= room) {
        room -= whole;
        return true;
    }
    if (type.shape == Shape::Object) {
        return std::ranges::all_of(type.fields, [&](const FieldDescriptor& field) {
            return fit(member(value, field), *field.type, room);
        });
    }
    if (!type.retain) return false;
    fit_elements(value, type, room);
    return true;
}

void fit_elements(void* container, const Type& type, std::size_t& room) {
    struct Fitting {
        const Type& type;
        std::size_t& room;
    } fitting{type, room};
    type.retain(container, &fitting, [](void* context, std::string_view key, void* element) {
        auto& [of, left] = as<Fitting>(context);
        const auto place = of.shape == Shape::Optional ? 0 : place_bytes(of, key);
        if (place > left) return false;
        left -= place;
        return fit(element, *of.element, left);
    });
}

// ObjectPart is a part of an object that can be cut: one of its lists, maps or texts, but not those inside
// them.
struct ObjectPart {
    std::string name;
    void* value;
    const Type* type;
    std::size_t bytes;
};

void add_parts(void* value, const Type& type, const std::string& name, std::vector<ObjectPart>& parts) {
    if (is_container(type) || type.shape == Shape::String) {
        parts.push_back({name, value, &type, heap_bytes(value, type)});
    } else if (type.shape == Shape::Object) {
        for (const FieldDescriptor& field : type.fields)
            add_parts(member(value, field), *field.type,
                      name.empty() ? std::string(field.name) : name + "." + std::string(field.name), parts);
    } else if (type.shape == Shape::Optional) {
        struct Inside {
            const Type& type;
            const std::string& name;
            std::vector<ObjectPart>& parts;
        } inside{*type.element, name, parts};
        type.retain(value, &inside, [](void* context, std::string_view, void* element) {
            auto& [of, called, all] = as<Inside>(context);
            add_parts(element, of, called, all);
            return true;
        });
    }
}

// Returns the limit of each size so that all together are `most`.
std::size_t level_of(std::vector<std::size_t> sizes, std::size_t most) {
    std::ranges::sort(sizes);
    std::size_t left = most;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto share = left / (sizes.size() - i);
        if (sizes[i] > share) return share;
        left -= sizes[i];
    }
    return most;
}

// Returns "nvidia.com" for the label or resource "nvidia.com/gpu", and an empty text for "cpu".
std::string domain_of(std::string_view key) {
    const auto slash = key.find('/');
    return slash == std::string_view::npos ? std::string() : std::string(key.substr(0, slash));
}

// Keeps the elements of each domain that fit into its share. Small domains stay complete.
void fit_domains(void* map, const Type& type, std::size_t most) {
    struct Domains {
        const Type& type;
        std::map<std::string, std::size_t> bytes = {};
    } domains{type};
    type.each(map, &domains, [](void* context, std::string_view key, const void* element) {
        auto& [of, bytes] = as<Domains>(context);
        bytes[domain_of(key)] += place_bytes(of, key) + heap_bytes(element, *of.element);
    });
    std::vector<std::size_t> sizes;
    for (const auto& [domain, bytes] : domains.bytes) sizes.push_back(bytes);
    const auto level = level_of(std::move(sizes), most);
    for (auto& [domain, bytes] : domains.bytes) bytes = std::min(bytes, level);
    type.retain(map, &domains, [](void* context, std::string_view key, void* element) {
        auto& [of, rooms] = as<Domains>(context);
        auto& room = rooms[domain_of(key)];
        const auto place = place_bytes(of, key);
        if (place > room) return false;
        room -= place;
        return fit(element, *of.element, room);
    });
}

void shorten(const ObjectPart& part, std::size_t level) {
    if (part.type->shape == Shape::String) {
        auto& text = as<std::string>(part.value);
        text.resize(std::min(text.size(), std::max(level, kLongestName)));
        text.shrink_to_fit();
    } else if (part.type->shape == Shape::Map) {
        fit_domains(part.value, *part.type, level);
    } else {
        auto room = level;
        fit_elements(part.value, *part.type, room);
    }
}

void close_to_pods(Node& node) {
    Taint taint;
    taint.key = kMoreTaintsThanKept;
    taint.effect = taints::kNoSchedule;
    node.spec.taints.push_back(std::move(taint));
}

}  // namespace

std::size_t heap_bytes(const void* value, const Type& type) {
    std::size_t bytes = 0;
    switch (type.shape) {
        case Shape::Object:
            for (const FieldDescriptor& field : type.fields)
                bytes += heap_bytes(member(value, field), *field.type);
            break;
        case Shape::List:
        case Shape::Map:
        case Shape::Optional:
            bytes = elements_bytes(value, type);
            break;
        case Shape::String:
            bytes = text_bytes(as<std::string>(value).capacity());
            break;
        case Shape::Any:
            bytes = kParsed * json::serialize(as<json::value>(value)).size();
            break;
        case Shape::Text:
        case Shape::Enum:
        case Shape::Boolean:
        case Shape::Integer:
            break;
    }
    return bytes;
}

std::vector<std::string> shorten(void* object, const Type& type, std::size_t most) {
    std::vector<std::string> names;
    if (heap_bytes(object, type) <= most) return names;
    std::vector<ObjectPart> parts;
    add_parts(object, type, {}, parts);
    std::vector<std::size_t> sizes;
    for (const auto& part : parts) sizes.push_back(part.bytes);
    const auto level = level_of(std::move(sizes), most);
    for (const auto& part : parts) {
        const auto kept_whole =
            part.type->shape == Shape::String ? std::max(level, text_bytes(kLongestName)) : level;
        if (part.bytes <= kept_whole) continue;
        shorten(part, level);
        names.push_back(part.name);
        if (&type == &type_of<Node>() && part.name == "spec.taints") close_to_pods(as<Node>(object));
    }
    return names;
}

std::optional<DecodeError> excess_of_finalizers(const ObjectMeta& metadata) {
    constexpr std::size_t kMost = 8 * 1024;
    if (metadata.finalizers.empty()) return std::nullopt;
    std::size_t bytes = 0;
    for (const auto& finalizer : std::as_const(*metadata.finalizers))
        bytes += sizeof(finalizer) + finalizer.size();
    if (bytes <= kMost) return std::nullopt;
    return DecodeError("/metadata/finalizers",
                       "they are longer than 8 KiB: remove those that no program needs");
}

void forget_other_owners(ObjectMeta& metadata) {
    if (metadata.ownerReferences.empty()) return metadata.ownerReferences.reset();
    // A list that only shrinks would keep its memory.
    std::vector<OwnerReference> controllers;
    for (const auto& owner : std::as_const(*metadata.ownerReferences))
        if (owner.controller.value_or(false)) controllers.push_back(owner);
    metadata.ownerReferences = std::move(controllers);
}

void forget_of_others(ObjectMeta& metadata) {
    constexpr std::size_t kMostOfLabels = 16 * 1024;
    if (!metadata.annotations.empty())
        std::erase_if(*metadata.annotations, [](const auto& entry) {
            return entry.first.find("kubenodesmith") == std::string::npos;
        });
    if (!metadata.labels.empty()) shorten(*metadata.labels, kMostOfLabels);
    forget_other_owners(metadata);
}

}  // namespace api
