// The documents of one Redfish service, as somebody recorded or wrote them: an object from path to document.
// Paths are found as real BMCs find them: in any case, with or without a slash at the end.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redfish_player {

namespace json = boost::json;

// Lower case, without query and slash at the end: how a path is written in a tree.
std::string key_of(std::string_view target);

class Tree {
public:
    // Throws std::invalid_argument if one of the documents is no object.
    explicit Tree(json::object documents);

    // Null: the recording lacks it.
    json::object* find(std::string_view target);
    const json::object* find(std::string_view target) const;
    void put(std::string_view target, json::object document);
    void erase(std::string_view target);

    // Where the "@odata.id" of document[name] points to; empty: there is none.
    static std::string link(const json::object& document, std::string_view name);

    // Keys of the systems whose power can be switched.
    std::vector<std::string> systems() const;
    // Key of the document with its pending settings; empty: it has none, or the recording lacks it.
    std::string settings_of(std::string_view system) const;
    // What is inserted in virtual media.
    std::vector<std::string> images() const;
    // Key of the collection of sessions; empty: the service root names none.
    std::string sessions() const;

    struct Action {
        std::string owner;        // key of the document that offers it
        std::string name;         // "ComputerSystem.Reset"
        json::object parameters;  // as the document describes them
    };
    // What a POST to this path asks for.
    std::optional<Action> action(std::string_view target) const;

private:
    json::object documents_;
};

}  // namespace redfish_player
