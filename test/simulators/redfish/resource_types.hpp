// Adds the properties that every resource has: its path, its type, its name.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace redfish_simulator {

// Adds those of "@odata.id", "@odata.type", Id and Name that the document of this path lacks.
void introduce(boost::json::object& document, const std::string& path);

}  // namespace redfish_simulator
