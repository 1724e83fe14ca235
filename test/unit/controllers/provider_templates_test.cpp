// Tests providers that make their own templates.
#include "test/support/catch.hpp"
#include "test/unit/controllers/provider_world.hpp"

using namespace provider_tests;

TEST_CASE("a provider whose template is being made is looked at as often as that takes, without a warning") {
    World world;
    world.use_image();
    world.script.health.template_reason = "ImagePreparing";
    world.script.health.template_message = "a template is being created from the image";
    world.script.health.look_again_after = 2s;
    world.start();
    world.run_for(1s);
    CHECK(world.condition("Ready") == "False ImagePreparing");
    CHECK(world.condition("TemplateResolved") == "False ImagePreparing");
    CHECK(world.events.count("ImagePreparing") == 1);
    CHECK(world.events.warnings == 0);
    world.run_for(1min);
    CHECK(world.script.checks > 25);

    world.script.health.template_reason.clear();
    world.script.health.look_again_after = {};
    world.run_for(3s);
    CHECK(world.condition("Ready") == "True Ready");
    const auto checks = world.script.checks;
    world.run_for(4min);
    CHECK(world.script.checks == checks);
}

TEST_CASE("a deleted provider takes along the templates that it made, or says what is left of them") {
    for (const bool is_stuck : {false, true}) {
        World world;
        world.use_image();
        world.script.left = "VM 1999 on pve1: it is locked (backup)";
        world.start();
        world.run_for(1s);
        CHECK(world.script.dismantlings == 0);
        const auto checks = world.script.checks;
        world.server.remove<NodeSmithProvider>({"default", "proxmox"});
        world.run_for(10s);
        CHECK(world.server.get<NodeSmithProvider>({"default", "proxmox"}));
        // An examination would make templates again.
        CHECK(world.script.checks_before == checks);
        if (!is_stuck) world.script.left.clear();
        world.run_for(6min);
        CHECK_FALSE(world.server.get<NodeSmithProvider>({"default", "proxmox"}));
        CHECK(world.events.count("TemplatesLeft") == (is_stuck ? 1 : 0));
    }
}

TEST_CASE("a deleted provider that makes no templates goes at once") {
    World world;
    world.script.left = "nobody asks";
    world.start();
    world.run_for(1s);
    world.server.remove<NodeSmithProvider>({"default", "proxmox"});
    world.run_for(1s);
    CHECK(world.script.dismantlings == 0);
    CHECK_FALSE(world.server.get<NodeSmithProvider>({"default", "proxmox"}));
}
