// Tests answers with which BMCs refuse requests, and their ETags, in all the forms of vendors.
#include "providers/redfish/bmc/bmc_error.hpp"
#include "providers/redfish/bmc/etag.hpp"
#include "providers/redfish/bmc/system.hpp"
#include "test/support/catch.hpp"

using namespace providers::redfish;
using std::chrono::seconds;

namespace {

base::HttpResponse response(int status, std::string body, std::string retry_after = "") {
    base::HttpResponse result;
    result.status = status;
    result.body = std::move(body);
    if (!retry_after.empty()) result.headers.set("Retry-After", retry_after);
    return result;
}

// Returns a refusal in the form of the standard.
base::HttpResponse refusal(int status, const std::string& id, const std::string& message = "no") {
    return response(status, R"({"error":{"code":"Base.1.18.GeneralError","message":"see ExtendedInfo",)"
                            R"("@Message.ExtendedInfo":[{"MessageId":")" +
                                id + R"(","Message":")" + message + R"("}]}})");
}

RedfishErrorKind kind_of(int status, const std::string& id) {
    return complaint_of(refusal(status, id)).kind;
}

}  // namespace

TEST_CASE("quirk 2: a BMC that is not ready is known by its message, whatever status it says so with") {
    for (const int status : {400, 500, 503}) {
        for (const auto* id : {"IDRAC.2.8.SYS518", "IDRAC.2.9.SWC0700", "IDRAC.1.6.RAC0508",
                               "Base.1.5.ServiceTemporarilyUnavailable"})
            CHECK(kind_of(status, id) == RedfishErrorKind::busy);
    }
    const auto told = complaint_of(refusal(400, "IDRAC.2.8.SWC0700", "Not ready. Retry in 30 seconds."));
    CHECK(told.retry_after == base::Duration(seconds{30}));
    auto sooner = refusal(503, "IDRAC.2.8.SYS518", "Retry in 30 seconds");
    sooner.headers.set("Retry-After", "7");
    CHECK(complaint_of(sooner).retry_after == base::Duration(seconds{7}));
}

TEST_CASE("what only a person can change is told from what passes") {
    CHECK(kind_of(403, "SMC.1.0.OemLicenseNotPassed") == RedfishErrorKind::license);
    CHECK(kind_of(403, "Base.1.8.PasswordChangeRequired") == RedfishErrorKind::password_change);
    CHECK(kind_of(403, "Base.1.8.InsufficientPrivilege") == RedfishErrorKind::forbidden);
    CHECK(kind_of(503, "IDRAC.2.8.RAC0218") == RedfishErrorKind::session_limit);
    CHECK(kind_of(400, "iLO.2.14.UnableToModifyDuringSystemPOST") == RedfishErrorKind::busy);
    CHECK(is_permanent(RedfishErrorKind::license));
    CHECK_FALSE(is_permanent(RedfishErrorKind::busy));
}

TEST_CASE("a BMC's words are one line that can be shown, and those of what is no BMC are not") {
    const auto told =
        complaint_of(refusal(400, "Base.1.8.GeneralError", "no\\u001b[31m \\u202eroom\\nsecond"));
    CHECK(told.message == "no[31m room (HTTP status 400)");
    const auto endless = complaint_of(refusal(400, "Base.1.8.GeneralError", std::string(100'000, 'x')));
    const auto cut = std::string(96, 'x') + "..." + std::string(160, 'x');
    CHECK(endless.message == cut + " (HTTP status 400)");
    CHECK(complaint_of(response(404, "<html>router</html>")).message == "HTTP status 404");
    CHECK(complaint_of(response(401, R"({"message":"router"})")).message == "HTTP status 401");
}

TEST_CASE("of what a BMC says of its system only what the schema has, and a serial number, is taken") {
    const auto system = [](const std::string& text) {
        RedfishResource resource;
        resource.body = {{"PowerState", text}, {"SerialNumber", text}, {"Status", {{"Health", text}}}};
        return parse_system(resource);
    };
    const auto odd = system("On\x1b[31m \u202e\nsecond");
    CHECK(odd.power_text.empty());
    CHECK(odd.power == PowerState::unknown);
    CHECK(odd.health.empty());
    CHECK(odd.serial_number == "On[31m");
    CHECK(system(std::string(200, 'x')).serial_number.empty());
    CHECK(system("PoweringOff").power_text == "PoweringOff");
    CHECK(system("Critical").health == "Critical");
    std::vector<std::string> flaws;
    CHECK(mac_of({{"MACAddress", "AA-BB-CC-DD-EE-FF"}}, flaws) == "aa:bb:cc:dd:ee:ff");
    CHECK(mac_of({{"MACAddress", "00:00:00:00:00:00"}}, flaws).empty());
    CHECK(mac_of({{"MACAddress", ""}}, flaws).empty());
    CHECK(flaws.empty());
    for (const auto* wrong : {"aa:bb\n", "aa:bb:cc:dd:ee:ff:00:11", "not available", ":::::::::::::::::"})
        CHECK(mac_of({{"MACAddress", wrong}}, flaws).empty());
    CHECK(flaws.size() == 4);
}

TEST_CASE("of a BMC's message IDs only those that mean something to us are counted by name") {
    CHECK(complaint_of(refusal(503, "IDRAC.2.8.SYS518")).known_id() == "SYS518");
    CHECK_FALSE(complaint_of(refusal(503, "Base.1.8.Made\\u0007Up")).known_id());
}

TEST_CASE("extended information is found wherever a vendor puts it") {
    const std::string info = R"({"MessageId":"IDRAC.2.8.SYS518","Message":"not ready"})";
    CHECK(complaint_of(response(500, R"({"error":{"@Message.ExtendedInfo":)" + info + "}}")).says("SYS518"));
    CHECK(complaint_of(response(500, R"({"@Message.ExtendedInfo":[)" + info + "]}")).says("SYS518"));
    CHECK(complaint_of(response(500, R"({"error":{"code":"Base.1.0.SessionLimitExceeded"}})")).kind ==
          RedfishErrorKind::session_limit);
    const auto page = complaint_of(response(404, "<html>Not Found</html>"));
    CHECK(page.kind == RedfishErrorKind::not_found);
    CHECK(page.message == "HTTP status 404");
    CHECK(complaint_of(response(503, "", "soon")).retry_after == std::nullopt);
    CHECK(complaint_of(response(503, "[1,2", "86400")).retry_after ==
          base::Duration(std::chrono::minutes{10}));
}

TEST_CASE("quirk 13: of two ETags that differ the body's counts; a weak or doubled one has a strong form") {
    auto two = response(200, "{}");
    two.headers.set("ETag", "W/\"proxy\"");
    CHECK(etag_of(two, {{"@odata.etag", "\"own\""}}) == "\"own\"");
    CHECK(etag_of(two, {}) == "W/\"proxy\"");
    using Ladder = std::vector<std::string>;
    CHECK(etag_ladder("W/\"a-gzip\"") == Ladder{"W/\"a-gzip\"", "\"a\"", ""});
    CHECK(etag_ladder("\"\"a\"\"") == Ladder{"\"\"a\"\"", "\"a\"", ""});
    CHECK(etag_ladder("\"a\"") == Ladder{"\"a\"", ""});
    CHECK(etag_ladder("") == Ladder{"", "*"});
}
