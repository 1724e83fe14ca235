"""Tests the operator's documents with the real cloud-init of Debian 12, of Debian 13 and in the newest release."""

import subprocess

import pytest
import renderings
import yaml
from machines import KEYS, MACHINES, interfaces_of

WITH_NETWORK = [machine for machine in MACHINES if machine["network"]]
BY_NAME = {machine["name"]: machine for machine in MACHINES}


@pytest.fixture(scope="session")
def rendered(releases, documents):
    """Provides the files of each (release, machine, renderer)."""
    files = {}
    for version, cloud_init in releases.items():
        cases = [(machine["name"], renderer) for machine in WITH_NETWORK for renderer in renderings.RENDERERS]
        jobs = [("convert", {"network_config": str(documents / name / "network-config"), "renderer": renderer}) for name, renderer in cases]
        for (name, renderer), result in zip(cases, cloud_init.run(jobs)):
            files[version, name, renderer] = result
    return files


@pytest.mark.parametrize("renderer", renderings.RENDERERS)
@pytest.mark.parametrize("name", [machine["name"] for machine in WITH_NETWORK])
def test_each_interface_gets_by_its_mac_address_what_the_pool_says(cloud_init, rendered, name, renderer):
    wish = BY_NAME[name]
    files = rendered[cloud_init.version, name, renderer]
    assert "error" not in files, files
    facts = renderings.read(renderer, files)
    expected = interfaces_of(wish)
    assert set(facts) == set(expected)
    for interface, wanted in expected.items():
        fact = facts[interface]
        assert fact["mac"] == wanted["mac"]
        assert fact["dhcp"] == wanted["dhcp"]
        assert fact["addresses"] == set(wanted["addresses"])
        assert fact["gateways"] == {gateway for gateway in wanted["addresses"].values() if gateway}
        assert fact["routes"] == wanted["routes"]
        assert fact["mtu"] == wanted["mtu"]
    first = facts["eth" + wish["network"].get("interface", "net0")[3:]]
    assert first["dns"] >= dns_that_fits(wish, renderer, cloud_init)
    if dns_that_fits(wish, renderer, cloud_init):
        assert first["search"] >= set(wish["network"]["searchDomains"])


def dns_that_fits(wish, renderer, cloud_init):
    """Returns the name servers that a renderer gives to the interface."""
    servers = set(wish["network"].get("nameservers", []))
    with_dhcp = wish["network"].get("mode") != "Static"
    # These renderers ignore the name servers and use those of DHCP.
    if with_dhcp and (renderer == "network-manager" and cloud_init.release < (24,) or renderer == "eni" and cloud_init.release > (24,)):
        return set()
    if renderer not in ("eni", "network-manager") or cloud_init.release < (24,):
        return servers
    # Newer renderers give each family's servers to interfaces with that family.
    has_v6 = any(":" in address for one in wish["interfaces"] for address in one["addresses"])
    has_v4 = with_dhcp or any(":" not in address for one in wish["interfaces"] for address in one["addresses"])
    return {server for server in servers if (has_v6 if ":" in server else has_v4)}


@pytest.mark.parametrize("kind", ["cloud-config", "network-config"])
def test_the_schema_has_nothing_to_say(cloud_init, documents, kind):
    if kind == "network-config" and cloud_init.release < (24,):
        pytest.skip(f"cloud-init {cloud_init.version} has no schema of network configurations")
    file = "user-data" if kind == "cloud-config" else kind
    machines = MACHINES if kind == "cloud-config" else WITH_NETWORK
    jobs = [("schema", {"file": str(documents / machine["name"] / file), "kind": kind}) for machine in machines]
    for machine, result in zip(machines, cloud_init.run(jobs)):
        assert result["status"] == 0, (machine["name"], result["output"])
        assert "deprecated" not in result["output"].lower(), result["output"]


def test_the_schema_would_say_what_is_wrong(cloud_init, tmp_path):
    wrong = tmp_path / "user-data"
    wrong.write_text("#cloud-config\nruncmd: 1\n")
    result = cloud_init.one("schema", file=str(wrong), kind="cloud-config")
    assert result["status"] != 0 or "runcmd" in result["output"]


def check_seed(found, documents, name):
    folder = documents / name
    assert found["user-data"] == (folder / "user-data").read_text(encoding="utf-8")
    assert found["instance-id"] == yaml.safe_load((folder / "meta-data").read_text())["instance-id"]
    assert found["meta-data"]["local-hostname"].startswith("workers-")


@pytest.mark.parametrize("name", ["silent", "dual"])
def test_the_image_is_a_seed_for_the_stage_before_the_network(cloud_init, documents, name):
    image = str(documents / name / "seed.iso")
    label, files = cloud_init.one("iso", image=image)
    assert label == "cidata"
    assert {"user-data", "meta-data"} <= set(files)
    found = cloud_init.one("seed", image=image)
    check_seed(found, documents, name)
    assert found["stage"] == "local"
    wanted = yaml.safe_load((documents / name / "network-config").read_text())
    assert found["network-config"] == wanted


@pytest.mark.parametrize("name", ["silent", "dual"])
def test_the_served_seed_is_taken_once_there_is_a_network(cloud_init, documents, name):
    url = (documents / name / "url").read_text()
    found = cloud_init.one("seed", serial=f"ds=nocloud;dsmode=net;s={url}")
    check_seed(found, documents, name)
    assert found["stage"] == "net"
    wanted = yaml.safe_load((documents / name / "network-config").read_text())
    # Older releases don't request the file. The machine then keeps its settings from DHCP.
    assert found["network-config"] == (wanted if cloud_init.release >= (24, 3) else None)


def test_without_its_mode_the_place_of_a_seed_means_nothing_to_older_ones(cloud_init, documents):
    url = (documents / "silent" / "url").read_text()
    found = cloud_init.one("seed", serial=f"ds=nocloud;s={url}")
    assert (found is not None) == (cloud_init.release >= (23, 4))


def test_nothing_that_is_asked_for_is_missing(documents):
    """cloud-init requests a missing file ten more times."""
    url = (documents / "silent" / "url").read_text()
    for file in ("user-data", "meta-data", "vendor-data", "network-config"):
        status = subprocess.run(["python3", "-c", "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).status)", url + file],
                                capture_output=True, text=True, check=True).stdout
        assert status.strip() == "200"


def test_the_images_user_keeps_its_rights_under_the_name_that_was_given(cloud_init, documents):
    found = cloud_init.one("users", user_data=str(documents / "dual" / "user-data"))
    assert found["default"] == "ops"
    assert set(found["users"]) == {"ops"}
    assert found["users"]["ops"]["sudo"]
    assert "sudo" in str(found["users"]["ops"]["groups"])
    assert "deprecated" not in found["log"].lower()
    document = yaml.safe_load((documents / "dual" / "user-data").read_text(encoding="utf-8"))
    assert document["ssh_authorized_keys"] == KEYS
