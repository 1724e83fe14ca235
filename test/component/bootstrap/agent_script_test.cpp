// Runs the join script in a real shell.
#include "bootstrap/agent_script.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "test/support/catch.hpp"

namespace {

namespace fs = std::filesystem;
using Catch::Contains;

std::string read(const fs::path& path) {
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

// Disk is a folder that replaces the guest's disk.
class Disk {
public:
    Disk() {
        auto name = (fs::temp_directory_path() / "agent-script-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    ~Disk() { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    struct Result {
        int exit_code;
        std::string output;
    };
    // Runs the script as the guest agent does: on the standard input of a shell.
    Result run(const bootstrap::JoinPlan& plan) const {
        auto script = bootstrap::agent_script(plan, "some-id");
        const std::string real = "/var/lib/kubenodesmith";
        for (auto at = script.find(real); at != std::string::npos; at = script.find(real, at))
            script.replace(at, real.size(), path("state"));
        std::ofstream(path("script")) << script;
        const auto command = "/bin/sh -s < " + path("script") + " > " + path("output") + " 2>&1";
        const int status = std::system(command.c_str());
        return {WEXITSTATUS(status), read(path("output"))};
    }

private:
    fs::path folder_;
};

}  // namespace

TEST_CASE("The script writes the files as they are and runs the commands in order") {
    Disk disk;
    bootstrap::JoinPlan plan;
    const std::string content = "a: \"$HOME\" `id` \\\n'quoted'\n";
    plan.files.push_back({disk.path("etc/join it.yaml"), content, "0640"});
    plan.commands.push_back({"cp", disk.path("etc/join it.yaml"), disk.path("copy")});
    plan.commands.push_back({"echo", "it's $done", ""});
    const auto result = disk.run(plan);
    CHECK(result.exit_code == 0);
    CHECK(result.output == "it's $done \n");
    CHECK(read(disk.path("copy")) == content);
    CHECK((fs::status(disk.path("etc/join it.yaml")).permissions() & fs::perms::mask) == fs::perms{0640});
}

TEST_CASE("Run again it does nothing and tells what the first run did") {
    Disk disk;
    bootstrap::JoinPlan plan;
    plan.commands.push_back({"sh", "-c", "echo ran; echo x >> " + disk.path("runs") + "; exit 7"});
    for (int i = 0; i < 3; ++i) {
        const auto result = disk.run(plan);
        CHECK(result.exit_code == 7);
        CHECK(result.output == "ran\n");
    }
    CHECK(read(disk.path("runs")) == "x\n");
}

TEST_CASE("Run again while the first run is at work it waits for that one's end") {
    Disk disk;
    fs::create_directories(disk.path("state/join-some-id"));
    const auto end = "(sleep 2; echo late > " + disk.path("state/join-some-id/output") + "; echo 3 > " +
                     disk.path("state/join-some-id/exit") + ") > /dev/null 2>&1 &";
    REQUIRE(std::system(end.c_str()) == 0);
    const auto result = disk.run({});
    CHECK(result.exit_code == 3);
    CHECK(result.output == "late\n");
}

TEST_CASE("A command that fails ends the script, and its complaint is told") {
    Disk disk;
    bootstrap::JoinPlan plan;
    plan.commands.push_back({"sh", "-c", "echo no route to the API server >&2; exit 1"});
    plan.commands.push_back({"touch", disk.path("too-far")});
    const auto result = disk.run(plan);
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.output, Contains("no route to the API server"));
    CHECK_FALSE(fs::exists(disk.path("too-far")));
}
