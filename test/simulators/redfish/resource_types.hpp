// What every resource says of itself: its path, its type, its name.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace redfish_simulator {

// Adds what the document of this path lacks of "@odata.id", "@odata.type", Id and Name.
void introduce(boost::json::object& document, const std::string& path);

}  // namespace redfish_simulator
