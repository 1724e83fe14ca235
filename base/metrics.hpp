// Prometheus metrics: a registry of counters, gauges and histograms with label values, and its text form.
// https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4). Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace base {

using LabelValues = std::vector<std::string>;

class Counter {
public:
    void add(double amount = 1) { value_ += amount; }
    double value() const { return value_; }

private:
    double value_ = 0;
};

class Gauge {
public:
    void set(double value) { value_ = value; }
    void add(double amount) { value_ += amount; }
    double value() const { return value_; }

private:
    double value_ = 0;
};

class Histogram {
public:
    explicit Histogram(std::vector<double> bounds)
        : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
    void observe(double value);
    const std::vector<double>& bounds() const { return bounds_; }
    const std::vector<std::uint64_t>& counts() const { return counts_; }  // one per bucket, the last is +Inf
    double sum() const { return sum_; }

private:
    std::vector<double> bounds_;
    std::vector<std::uint64_t> counts_;
    double sum_ = 0;
};

// Family has all series of one metric name. with() makes a series on first use; the reference stays valid.
template <class Metric>
class Family {
public:
    virtual ~Family() = default;
    virtual Metric& with(const LabelValues& values) = 0;
    virtual void remove(const LabelValues& values) = 0;
};

class MetricsRegistry {
public:
    MetricsRegistry();
    ~MetricsRegistry();

    // A known name returns the same family. Another type or label set throws std::logic_error.
    Family<Counter>& counter(const std::string& name, const std::string& help,
                             std::vector<std::string> labels = {});
    Family<Gauge>& gauge(const std::string& name, const std::string& help,
                         std::vector<std::string> labels = {});
    Family<Histogram>& histogram(const std::string& name, const std::string& help, std::vector<double> bounds,
                                 std::vector<std::string> labels = {});
    std::string exposition() const;

    // Hook keeps a callback of before_exposition() alive. It may outlive the registry.
    class Hook {
    public:
        virtual ~Hook() = default;
    };
    // Runs `update` before each exposition, for gauges that change with time.
    [[nodiscard]] std::unique_ptr<Hook> before_exposition(std::function<void()> update);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace base
