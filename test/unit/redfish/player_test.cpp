// Tests that the player of recorded trees judges correctly. It has exactly what the recording has, and
// accepts exactly what that allows.
#include "test/simulators/redfish_player/player.hpp"

#include <boost/json/parse.hpp>

#include "api/bytes.hpp"
#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"

using namespace redfish_player;

namespace asio = boost::asio;

namespace {

constexpr const char* kTree = R"({
"/redfish/v1": {"Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}}},
"/redfish/v1/sessionservice/sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions",
  "Members": [{"@odata.id": "/redfish/v1/SessionService/Sessions/theirs"}], "Members@odata.count": 1},
"/redfish/v1/systems/1": {"@odata.id": "/redfish/v1/Systems/1", "@odata.etag": "\"1\"", "PowerState": "Off",
  "Boot": {"BootSourceOverrideTarget": "None", "BootSourceOverrideEnabled": "Disabled",
    "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe"]},
  "Actions": {"#ComputerSystem.Reset": {"target": "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
    "@Redfish.ActionInfo": "/redfish/v1/Systems/1/ResetActionInfo"}}},
"/redfish/v1/systems/1/resetactioninfo": {"Parameters": [
  {"Name": "ResetType", "Required": true, "AllowableValues": ["On", "ForceOff"]}]},
"/redfish/v1/managers/1/virtualmedia/cd": {"@odata.type": "#VirtualMedia.v1_3_0.VirtualMedia",
  "Image": null, "Inserted": false, "MediaTypes": ["CD"],
  "Actions": {"#VirtualMedia.InsertMedia": {"target": "/redfish/v1/Managers/1/VirtualMedia/Cd/Insert",
    "TransferMethod@Redfish.AllowableValues": ["Stream"],
    "Image@Redfish.AllowableValues": ["Any URI that can be reached"]},
  "#VirtualMedia.EjectMedia": {"target": "/redfish/v1/Managers/1/VirtualMedia/Cd/Eject"}}},
"/redfish/v1/managers/1/virtualmedia/usb": {"@odata.type": "#VirtualMedia.v1_3_0.VirtualMedia",
  "Image": null, "Inserted": false, "ConnectedVia": "NotConnected"}
})";

PlayerOptions options() {
    PlayerOptions result;
    result.password = "secret";
    return result;
}

struct Lab {
    base::HttpResponse ask(const std::string& method, const std::string& target, const std::string& body = "",
                           const std::string& if_match = "") {
        base::HttpRequest request;
        request.method = method;
        request.target = target;
        request.body = body;
        request.headers.set("Authorization", "Basic " + api::Bytes{"admin:" + password}.str());
        if (!if_match.empty()) request.headers.set("If-Match", if_match);
        return player.handle(request);
    }
    // Returns the message ID of the refusal; "" if the request was executed.
    std::string refusal(const std::string& method, const std::string& target, const std::string& body,
                        const std::string& if_match = "") {
        ask(method, target, body, if_match);
        return player.exchanges().back().refused;
    }
    std::string reset(const std::string& body) {
        return refusal("POST", "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", body);
    }
    json::object read(const std::string& target) { return json::parse(ask("GET", target).body).as_object(); }

    asio::io_context context;
    fake::VirtualClock clock;
    std::string password = "secret";
    Player player{Tree(json::parse(kTree).as_object()), options(), clock};
};

}  // namespace

TEST_CASE("paths are found in any case and with a slash, and what the recording lacks is 404") {
    Lab lab;
    CHECK(lab.ask("GET", "/redfish/v1/SYSTEMS/1/").status == 200);
    CHECK(lab.ask("GET", "/redfish/v1/Systems/2").status == 404);
}

TEST_CASE("strangers see the service root alone") {
    Lab lab;
    lab.password = "wrong";
    CHECK(lab.ask("GET", "/redfish/v1/").status == 200);
    CHECK(lab.ask("GET", "/redfish/v1/Systems/1").status == 401);
    CHECK(lab.reset(R"({"ResetType":"On"})") == "NoValidSession");
}

TEST_CASE("a session is listed beside those of others while it lasts, and its token lets in") {
    Lab lab;
    base::HttpRequest login;
    login.method = "POST";
    login.target = "/redfish/v1/SessionService/Sessions";
    login.body = R"({"UserName":"admin","Password":"secret","Context":"test"})";
    const auto session = lab.player.handle(login);
    REQUIRE(session.status == 201);
    base::HttpRequest request;
    request.target = "/redfish/v1/SessionService/Sessions";
    request.headers.set("X-Auth-Token", std::string(*session.headers.find("X-Auth-Token")));
    CHECK(json::parse(lab.player.handle(request).body).at("Members").as_array().size() == 2);
    request.method = "DELETE";
    request.target = std::string(*session.headers.find("Location"));
    CHECK(lab.player.handle(request).status == 204);
    CHECK(lab.player.handle(request).status == 401);
    const auto left = lab.read("/redfish/v1/SessionService/Sessions").at("Members").as_array();
    REQUIRE(left.size() == 1);
    CHECK(left.front().at("@odata.id") == "/redfish/v1/SessionService/Sessions/theirs");
    login.body = R"({"UserName":"admin","Password":"wrong"})";
    CHECK(lab.player.handle(login).status == 401);
}

TEST_CASE("a reset is held against its ActionInfo") {
    Lab lab;
    CHECK(lab.reset(R"({"ResetType":"GracefulShutdown"})") == "ActionParameterValueNotInList");
    CHECK(lab.player.exchanges().back().is_forbidden);
    CHECK(lab.reset(R"({})") == "ActionParameterMissing");
    CHECK_FALSE(lab.player.exchanges().back().is_forbidden);
    CHECK(lab.reset(R"({"ResetType":"On","Force":true})") == "ActionParameterUnknown");
    CHECK(lab.reset(R"({"ResetType":"On"})").empty());
    CHECK(lab.player.power() == "Off");
    lab.clock.run_for(lab.context, seconds{10});
    CHECK(lab.player.power() == "On");
}

TEST_CASE("a boot override is held against the document, and Once is used up by the next boot") {
    Lab lab;
    const std::string system = "/redfish/v1/Systems/1";
    const auto patch = [&](const std::string& boot) {
        return lab.refusal("PATCH", system, R"({"Boot":)" + boot + "}");
    };
    CHECK(patch(R"({"BootSourceOverrideTarget":"UefiHttp"})") == "PropertyValueNotInList");
    CHECK(patch(R"({"BootSourceOverrideEnabled":"Twice"})") == "PropertyValueNotInList");
    CHECK(patch(R"({"BootSourceOverrideMode":"UEFI"})") == "PropertyUnknown");
    CHECK(patch(R"({"BootSourceOverrideTarget":7})") == "PropertyValueTypeError");
    CHECK(patch(R"({"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"})").empty());
    CHECK(lab.player.is_override_set());
    lab.reset(R"({"ResetType":"On"})");
    lab.clock.run_for(lab.context, seconds{10});
    CHECK(lab.player.power() == "On");
    REQUIRE(lab.player.boots().size() == 1);
    CHECK(lab.player.boots().front().target == "Pxe");
    CHECK_FALSE(lab.player.is_override_set());
}

TEST_CASE("who read an older version changes nothing") {
    Lab lab;
    const auto tag = std::string(*lab.ask("GET", "/redfish/v1/Systems/1").headers.find("ETag"));
    const auto once = R"({"Boot":{"BootSourceOverrideEnabled":"Once"}})";
    CHECK(lab.refusal("PATCH", "/redfish/v1/Systems/1", once, tag).empty());
    CHECK(lab.refusal("PATCH", "/redfish/v1/Systems/1", once, tag) == "PreconditionFailed");
    CHECK(lab.refusal("PATCH", "/redfish/v1/Systems/1", once, "*").empty());
}

TEST_CASE("virtual media are changed by their actions, or by PATCH where there are none") {
    Lab lab;
    const std::string cd = "/redfish/v1/Managers/1/VirtualMedia/Cd";
    const std::string usb = "/redfish/v1/Managers/1/VirtualMedia/Usb";
    const auto image = R"({"Image":"http://images.example.org/a.iso"})";
    CHECK(lab.refusal("PATCH", cd, image) == "OperationNotAllowed");
    CHECK(lab.refusal("POST", cd + "/Insert", R"({"Image":"http://a/b","TransferMethod":"Upload"})") ==
          "ActionParameterValueNotInList");
    CHECK(lab.refusal("POST", cd + "/Insert", R"({})") == "ActionParameterMissing");
    CHECK(lab.refusal("POST", cd + "/Insert", image).empty());
    CHECK(lab.refusal("POST", cd + "/Insert", image) == "ResourceInUse");
    CHECK(lab.player.tree().images() == std::vector<std::string>{"http://images.example.org/a.iso"});
    CHECK(lab.refusal("POST", cd + "/Eject", "{}").empty());
    CHECK(lab.player.tree().images().empty());
    CHECK(lab.refusal("PATCH", usb, R"({"Image":"http://a/b","Inserted":true})").empty());
    CHECK(lab.read(usb).at("ConnectedVia") == "URI");
    CHECK(lab.refusal("PATCH", usb, R"({"Image":null,"Inserted":false})").empty());
    CHECK(lab.player.tree().images().empty());
}
