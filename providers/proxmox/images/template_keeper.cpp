#include "providers/proxmox/images/template_keeper.hpp"

#include "base/log.hpp"
#include "providers/errors.hpp"
#include "providers/proxmox/images/waits.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kAfterTrouble = std::chrono::seconds{10};
constexpr base::Duration kTidyAge = std::chrono::seconds{10};

}  // namespace

asio::awaitable<void> TemplateKeeper::tend(Health& health) {
    const bool works = health.reachable && health.credentials_ok && health.reason.empty();
    if (!works || is_leaving_) co_return;
    try {
        const auto making = co_await make(health);
        const bool is_making = making > base::Duration{};
        const auto tidying = co_await tidy_up(is_making);
        health.look_again_after = sooner(making, tidying);
        const auto held = remover_.held_templates();
        if (!held.empty()) health.not_visible += (health.not_visible.empty() ? "" : "; ") + held;
    } catch (const ProxmoxError& error) {
        health.look_again_after = kAfterTrouble;
        base::log::debug("Templates cannot be checked now", {{"error", error.what()}});
    }
}

// Returns the time until the next step; 0: all templates exist.
asio::awaitable<base::Duration> TemplateKeeper::make(Health& health) {
    if (!settings_.template_image()) {
        in_the_making_.clear();
        co_return base::Duration{};
    }
    const auto progress = co_await maker_.advance();
    if (progress.wait > base::Duration{}) remover_.expect_files();
    if (!health.template_reason.empty() && !progress.failure.empty()) {
        health.template_reason = api::reasons::kImageFailed;
        health.template_message = "no host has a template of the image: " + progress.failure;
    }
    co_return progress.wait;
}

// Removes unneeded templates and downloaded files. Files are kept while a template is being made.
asio::awaitable<base::Duration> TemplateKeeper::tidy_up(bool is_making) {
    KeptTemplates kept;
    const auto state = co_await view_.state(kTidyAge);
    if (settings_.template_image()) {
        auto found = co_await templates_.find(state);
        kept.templates = std::move(found.templates);
        for (const auto& [host, why] : in_the_making_) kept.hosts.insert(host);
    }
    const auto wait = co_await remover_.remove_but(std::move(kept));
    if (is_making) co_return wait;
    const auto of_files = co_await remover_.remove_files();
    co_return sooner(wait, of_files);
}

asio::awaitable<std::string> TemplateKeeper::remove_all() {
    is_leaving_ = true;
    KeptTemplates none;
    const auto of_templates = co_await remover_.remove_but(std::move(none));
    // A template that cannot be removed needs no file. One whose creation is still running may bring a file.
    if (of_templates > base::Duration{}) remover_.expect_files();
    const auto of_files = co_await remover_.remove_files();
    const auto unreachable = co_await remover_.unreachable_places();
    const bool is_done = sooner(of_templates, of_files) == base::Duration{};
    auto left = is_done ? std::string() : remover_.obstacles();
    if (!unreachable.empty()) left += (left.empty() ? "" : "; ") + unreachable;
    co_return left.empty() && !is_done ? "templates are being removed" : left;
}

}  // namespace providers::proxmox
