// Lists all kinds of a live cluster once, concurrently, and collects every missing right.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "kube/client.hpp"
#include "operator/command_line/missing_rights.hpp"

namespace kubenodesmith {

enum class Wanted { always, if_allowed };

class SnapshotLists {
public:
    SnapshotLists(kube::Client& client, controllers::Informers& informers,
                  boost::asio::any_io_executor executor);
    ~SnapshotLists();

    void add_ours();
    void add_nodes_and_pods(Wanted wanted);
    void add_core();

    // Fills the informers' stores. Throws ViewError for any failure except missing rights.
    boost::asio::awaitable<void> read();

    const std::vector<Right>& missing() const { return missing_; }
    const std::vector<Right>& refused() const { return refused_; }  // for lists that are Wanted::if_allowed
    std::vector<Right> needed() const;
    bool lacks_ours() const;
    // Returns notes on objects that cannot be decoded.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    struct List;
    template <class T>
    void add(kube::Informer<T>& informer, const std::vector<std::string>& namespaces, Wanted wanted,
             const std::string& field_selector = {});
    boost::asio::awaitable<void> read_one(List& list);

    kube::Client& client_;
    controllers::Informers& informers_;
    boost::asio::any_io_executor executor_;
    std::vector<std::unique_ptr<List>> lists_;
    std::vector<Right> missing_;
    std::vector<Right> refused_;
    std::vector<std::string> notes_;
    std::string failure_;  // the first one
};

}  // namespace kubenodesmith
