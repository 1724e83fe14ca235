// The power of a simulated system, and the source from which it boots.
#include <algorithm>

#include "test/simulators/redfish/bmc.hpp"

namespace redfish_simulator {

namespace {

std::string name_of(Power power) {
    switch (power) {
        case Power::off:
            return "Off";
        case Power::powering_on:
            return "PoweringOn";
        case Power::on:
            return "On";
        case Power::powering_off:
            return "PoweringOff";
    }
    return "Off";
}

}  // namespace

Power Bmc::power() {
    settle();
    return power_;
}

void Bmc::set_power(Power power) {
    settles_.reset();
    power_ = power;
    if (power == Power::on) finish_boot();
    if (power == Power::off) off_since_ = now();
    if (on_change) on_change(power);
}

// Completes every change that is due by now.
void Bmc::settle() {
    if (boot_job_ && now() >= boot_job_->at) {
        apply(*boot_job_);
        boot_job_.reset();
    }
    if (settles_ && now() >= *settles_) {
        settles_.reset();
        if (power_ == Power::powering_on) {
            power_ = Power::on;
            finish_boot();
            if (profile_.falls_back) falls_ = now() + seconds{5};
        } else if (power_ == Power::powering_off) {
            power_ = Power::off;
            off_since_ = now();
        }
        if (on_change) on_change(power_);
    }
    if (falls_ && now() >= *falls_) {
        falls_.reset();
        power_ = Power::off;
        off_since_ = now();
        if (on_change) on_change(power_);
    }
}

// The next boot uses up "Once", whatever it boots from.
void Bmc::finish_boot() {
    on_since_ = now();
    ++boots_;
    erased_.clear();
    booted_from_ = boot_enabled_ == "Disabled" || boot_target_ == "None" ? "Hdd" : boot_target_;
    if (boot_enabled_ == "Once") {
        boot_enabled_ = "Disabled";
        boot_target_ = "None";
        ++boot_version_;
    }
}

void Bmc::begin(Power transition, Duration takes) {
    power_ = transition;
    settles_ = now() + takes;
}

std::vector<std::string> Bmc::reset_types() const {
    std::vector<std::string> types{"On", "ForceOff", "ForceRestart", "PushPowerButton"};
    if (!profile_.no_graceful_shutdown) types.insert(types.begin() + 1, "GracefulShutdown");
    return types;
}

Bmc::Response Bmc::reset(const json::object& body) {
    const auto* value = body.if_contains("ResetType");
    if (!value || !value->is_string()) return error(400, "ActionParameterMissing", "ResetType is missing");
    const std::string type(value->get_string());
    const auto types = reset_types();
    if (std::find(types.begin(), types.end(), type) == types.end())
        return error(400, "ActionParameterValueNotInList", "ResetType " + type + " is not possible");
    const bool turns_on = type == "On";
    const bool is_already = turns_on ? power_ == Power::on : power_ == Power::off;
    if (is_already && profile_.complains_if_already)
        return error(409, "ResourceInUse2", "the system is in that state already");
    if (settles_ && profile_.drops_second_reset) return empty(204);
    if (is_already && !settles_) return empty(204);
    if (turns_on) {
        if (now() - off_since_ < profile_.conflict_after_off)
            return error(409, "ActionParameterValueConflict", "the system was turned off just now");
        if (power_ == Power::off) begin(Power::powering_on, profile_.power_on);
        if (profile_.sticks_powering_on) settles_.reset();
        return empty(204);
    }
    if (type == "ForceOff") {
        begin(Power::powering_off, profile_.power_off);
    } else if (type == "GracefulShutdown") {
        if (!profile_.ignores_shutdown) begin(Power::powering_off, profile_.shutdown);
    } else {
        return error(400, "ActionNotSupported", "nobody should ask for " + type);
    }
    return empty(204);
}

// Returns the power state that the BMC reports, which may be a remembered one.
std::string Bmc::power_text() {
    const bool is_fresh = !remembered_power_.empty() && now() - remembered_at_ < profile_.remembers_power;
    if (!is_fresh) {
        remembered_power_ = name_of(power_);
        remembered_at_ = now();
    }
    return remembered_power_;
}

}  // namespace redfish_simulator
