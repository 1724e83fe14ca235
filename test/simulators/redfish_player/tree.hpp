// The documents of one Redfish service, recorded or written by hand: an object from path to document. Paths
// are found as real BMCs find them: in any case, with or without a slash at the end.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redfish_player {

namespace json = boost::json;

// Returns how a tree writes a path: in lower case, without query and final slash.
std::string key_of(std::string_view target);

class Tree {
public:
    // Throws std::invalid_argument if one of the documents is no object.
    explicit Tree(json::object documents);

    // Returns null if the recording lacks the document.
    json::object* find(std::string_view target);
    const json::object* find(std::string_view target) const;
    void put(std::string_view target, json::object document);
    void erase(std::string_view target);

    // Returns the target of the "@odata.id" of document[name]; "" if there is none.
    static std::string link(const json::object& document, std::string_view name);

    // Returns the keys of the systems whose power can be switched.
    std::vector<std::string> systems() const;
    // Returns the key of the document with the system's pending settings; "" if there is none or the
    // recording lacks it.
    std::string settings_of(std::string_view system) const;
    // Returns the images in virtual media.
    std::vector<std::string> images() const;
    // Returns the key of the collection of sessions; "" if the service root names none.
    std::string sessions() const;

    struct Action {
        std::string owner;        // key of the document that offers the action
        std::string name;         // such as "ComputerSystem.Reset"
        json::object parameters;  // parameters as the document describes them
    };
    // Returns the action that a POST to this path requests.
    std::optional<Action> action(std::string_view target) const;

private:
    json::object documents_;
};

}  // namespace redfish_player
