#include "base/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>

namespace base {
namespace {

std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    std::array<char, 32> digits;
    auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

// Escapes text. HELP escapes backslash and line feed, label values also the quotation mark.
std::string escaped(std::string_view text, bool in_label) {
    std::string out;
    for (char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || (in_label && c == '"')) out += '\\';
        out += c;
    }
    return out;
}

class FamilyText {
public:
    virtual ~FamilyText() = default;
    virtual void append(std::string& out) const = 0;
};

struct Description {
    std::string name;
    std::string help;
    std::vector<std::string> labels;
};

std::string label_text(const Description& about, const LabelValues& values, std::string_view extra = {}) {
    std::string out;
    for (std::size_t i = 0; i < values.size(); ++i) {
        out += (out.empty() ? "" : ",") + about.labels[i] + "=\"" + escaped(values[i], true) + '"';
    }
    if (!extra.empty()) {
        if (!out.empty()) out += ',';
        out += extra;
    }
    return out.empty() ? out : '{' + out + '}';
}

void append_series(std::string& out, const Description& about, const LabelValues& values,
                   const auto& metric) {
    out += about.name + label_text(about, values) + ' ' + number(metric.value()) + '\n';
}

void append_series(std::string& out, const Description& about, const LabelValues& values,
                   const Histogram& metric) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < metric.counts().size(); ++i) {
        cumulative += metric.counts()[i];
        auto bound = i < metric.bounds().size() ? number(metric.bounds()[i]) : "+Inf";
        out += about.name + "_bucket" + label_text(about, values, "le=\"" + bound + '"') + ' ' +
               std::to_string(cumulative) + '\n';
    }
    auto labels = label_text(about, values);
    out += about.name + "_sum" + labels + ' ' + number(metric.sum()) + '\n';
    out += about.name + "_count" + labels + ' ' + std::to_string(cumulative) + '\n';
}

template <class Metric>
class FamilyOf final : public Family<Metric>, public FamilyText {
public:
    FamilyOf(Description about, const char* type, std::function<Metric()> make)
        : about_(std::move(about)), type_(type), make_(std::move(make)) {
        // A metric without labels is shown from the start, so that its absence is meaningful.
        if (about_.labels.empty()) series_.emplace(LabelValues{}, make_());
    }

    Metric& with(const LabelValues& values) override {
        if (values.size() != about_.labels.size()) {
            throw std::logic_error("metric " + about_.name + ": got " + std::to_string(values.size()) +
                                   " label values, has " + std::to_string(about_.labels.size()) + " labels");
        }
        auto found = series_.find(values);
        if (found == series_.end()) found = series_.emplace(values, make_()).first;
        return found->second;
    }
    void remove(const LabelValues& values) override { series_.erase(values); }

    void append(std::string& out) const override {
        if (series_.empty()) return;
        out += "# HELP " + about_.name + ' ' + escaped(about_.help, false) + '\n';
        out += "# TYPE " + about_.name + ' ' + type_ + '\n';
        for (const auto& [values, metric] : series_) append_series(out, about_, values, metric);
    }
    const std::vector<std::string>& labels() const { return about_.labels; }

private:
    Description about_;
    const char* type_;
    std::function<Metric()> make_;
    std::map<LabelValues, Metric> series_;
};

class UpdateHook final : public MetricsRegistry::Hook {
public:
    explicit UpdateHook(std::function<void()> update)
        : update_(std::make_shared<std::function<void()>>(std::move(update))) {}
    std::weak_ptr<std::function<void()>> update() const { return update_; }

private:
    std::shared_ptr<std::function<void()>> update_;
};

}  // namespace

struct MetricsRegistry::State {
    std::vector<std::weak_ptr<std::function<void()>>> hooks;
    std::map<std::string, std::unique_ptr<FamilyText>> families;  // by name, in the order of the exposition

    template <class Metric>
    Family<Metric>& family(Description about, const char* type, std::function<Metric()> make) {
        auto& known = families[about.name];
        if (!known) {
            known = std::make_unique<FamilyOf<Metric>>(std::move(about), type, std::move(make));
            return static_cast<FamilyOf<Metric>&>(*known);
        }
        auto* same = dynamic_cast<FamilyOf<Metric>*>(known.get());
        if (!same || same->labels() != about.labels) {
            throw std::logic_error("metric " + about.name +
                                   " is already known with another type or other labels");
        }
        return *same;
    }
};

void Histogram::observe(double value) {
    auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
    ++counts_[static_cast<std::size_t>(bucket)];
    sum_ += value;
}

MetricsRegistry::MetricsRegistry() : state_(std::make_unique<State>()) {}
MetricsRegistry::~MetricsRegistry() = default;

Family<Counter>& MetricsRegistry::counter(const std::string& name, const std::string& help,
                                          std::vector<std::string> labels) {
    return state_->family<Counter>({name, help, std::move(labels)}, "counter", [] { return Counter(); });
}

Family<Gauge>& MetricsRegistry::gauge(const std::string& name, const std::string& help,
                                      std::vector<std::string> labels) {
    return state_->family<Gauge>({name, help, std::move(labels)}, "gauge", [] { return Gauge(); });
}

Family<Histogram>& MetricsRegistry::histogram(const std::string& name, const std::string& help,
                                              std::vector<double> bounds, std::vector<std::string> labels) {
    return state_->family<Histogram>({name, help, std::move(labels)}, "histogram",
                                     [bounds = std::move(bounds)] { return Histogram(bounds); });
}

std::unique_ptr<MetricsRegistry::Hook> MetricsRegistry::before_exposition(std::function<void()> update) {
    auto hook = std::make_unique<UpdateHook>(std::move(update));
    std::erase_if(state_->hooks, [](const auto& known) { return known.expired(); });
    state_->hooks.push_back(hook->update());
    return hook;
}

std::string MetricsRegistry::exposition() const {
    for (const auto& hook : state_->hooks) {
        if (auto update = hook.lock()) (*update)();
    }
    std::string out;
    for (const auto& [name, family] : state_->families) family->append(out);
    return out;
}

}  // namespace base
