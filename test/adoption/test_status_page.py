"""Tests the status page in a real browser, as `kubenodesmith ui` serves it: at two sizes, dark and light, with few and many
objects. The document is the program's own or a made-up one; the page and its policy are always the program's own."""

import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import status_documents
from conftest import ROOT

sys.path.insert(0, str(ROOT / "test/e2e"))
import browser

PROGRAM = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin") / "kubenodesmith"
STYLE = ROOT / "operator/status_page/web/style.css"
AXE = ROOT / "build/axe/node_modules/axe-core/axe.min.js"
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
SCHEMES = ("light", "dark")
GROUP = "kubenodesmith.parawell.cloud/v1alpha1"


def colours(scheme):
    """Returns the custom properties that are colours, by name."""
    light, _, dark = STYLE.read_text().partition("@media (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light.split("}")[0]))
    if scheme == "dark":
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark.split("}")[0]))
    return found


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4 for p in parts)
    return .2126 * red + .7152 * green + .0722 * blue


def contrast(first, second):
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + .05) / (darker + .05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_and_drawings_have_the_contrast_of_wcag_aa(scheme):
    found = colours(scheme)
    text = [(ink, paper) for ink in ("ink", "soft", "link", "good", "warn", "bad") for paper in ("page", "card")]
    text += [(ink, f"{ink}-tint") for ink in ("good", "warn", "bad", "link")] + [("soft", "calm-tint"), ("ink", "link-tint"), ("ink", "calm-tint")]
    drawn = [(fill, paper) for fill in ("launch", "register", "initialize", "serve", "leave", "fail", "other") for paper in ("card", "page")]
    low = {pair: contrast(found[pair[0]], found[pair[1]]) for pairs, least in ((text, 4.5), (drawn, 3)) for pair in pairs
           if contrast(found[pair[0]], found[pair[1]]) < least}
    assert not low


def listed(kind, name, namespace="lab", **content):
    group = "v1" if kind == "Pod" else GROUP
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": namespace, "uid": f"{kind}-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"},
            **content}


def many_objects(claims, pods):
    """Returns the objects of a large cluster, as kubectl prints them."""
    ready = [{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    hosts = [{"name": f"host-{i:02}", "online": True, "cpuCores": 64, "memoryMiB": 131072, "freeCPUCores": 200, "freeMemoryMiB": 60000} for i in range(40)]
    objects = [listed("NodeSmithControlPlane", "main", spec={"pools": ["*"]}, status={"conditions": ready}),
               listed("NodeSmithProvider", "proxmox", spec={"type": "proxmox", "proxmox": {"endpoint": "https://proxmox.example:8006"}}, status={"conditions": ready, "hosts": hosts}),
               listed("NodeSmithPool", "workers", spec={"providerRef": "proxmox", "limits": {"maxNodes": 600}}, status={"conditions": ready})]
    for i in range(claims):
        launched = {"type": "Launched", "status": "True", "reason": "Launched", "message": "", "lastTransitionTime": "2026-01-01T00:00:20Z"}
        objects.append(listed("NodeSmithClaim", f"workers-{i:05}", spec={"poolRef": "workers", "requirements": {"cpuCores": 2, "memoryMiB": 4096}},
                              status={"phase": "Registering", "providerRef": "proxmox", "host": f"host-{i % 40:02}", "size": "2c/4Gi", "conditions": [launched]}))
    for i in range(pods):
        unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": f"0/500 nodes are available: {i % 30 + 1} Insufficient cpu."}
        objects.append(listed("Pod", f"job-{i:05}", "batch", spec={"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
                              status={"phase": "Pending", "conditions": [unscheduled]}))
    return {"apiVersion": "v1", "kind": "List", "items": objects}


@contextmanager
def ui(objects, folder):
    """Runs `kubenodesmith ui` with objects of a file. Yields its address."""
    file = folder / "objects.json"
    file.write_text(json.dumps(objects))
    process = subprocess.Popen([PROGRAM, "ui", "-f", file], stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://127\.0\.0\.1:\d+/\w+/", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def ask(url, suffix="", host=None, path=None):
    address, _, own_path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(address)
    connection.request("GET", path or f"/{own_path}{suffix}", headers={"Host": host} if host else {})
    answer = connection.getresponse()
    return answer, answer.read().decode()


@pytest.fixture(scope="module")
def large_ui(tmp_path_factory):
    with ui(many_objects(500, 2000), tmp_path_factory.mktemp("ui")) as url:
        yield url


@pytest.fixture(scope="module")
def site(large_ui):
    """Serves the program's page with documents that a test chooses: site.document. None: it does not answer."""
    answer, page = ask(large_ui)
    policy = answer.headers["Content-Security-Policy"]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            is_document = self.path.endswith("?format=json")
            if is_document and self.server.document is None:
                self.close_connection = True
                return
            body = (json.dumps(self.server.document) if is_document else page).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json" if is_document else "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.document = None
    server.url = f"http://127.0.0.1:{server.server_port}/"
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    chromium = browser.find() or pytest.skip("no Chromium is installed")
    opened = browser.Browser(chromium, tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


def shown(page, url, size="desktop", scheme="light"):
    page.open(url, *SIZES[size], scheme)
    page.wait("document.getElementById('freshness-text').textContent.startsWith('Updated')")


def text_of(page, selector):
    return page.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")


def assert_it_fits(page, size, screens):
    assert page.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]
    assert page.evaluate("document.documentElement.scrollHeight") < screens * SIZES[size][1]
    assert not page.complaints()


def test_ui_answers_only_who_knows_its_address(large_ui):
    answer, document = ask(large_ui, "?format=json")
    assert answer.status == 200
    assert json.loads(document)["kind"] == "StatusPage"
    assert ask(large_ui, host="evil.example")[0].status == 403
    assert ask(large_ui, path="/")[0].status == 404
    assert ask(large_ui, path="/?format=json")[0].status == 404


def test_documents_of_the_tests_have_the_fields_of_the_program(large_ui):
    """A made-up document that the program would not write proves nothing."""
    own = json.loads(ask(large_ui, "?format=json")[1])
    for make in (status_documents.well, status_documents.troubled, status_documents.large):
        made = make()
        assert set(made) <= set(own)
        for kind in ("pools", "claims", "providers", "controlPlanes", "troubles"):
            for each in made[kind]:
                assert set(own[kind][0]) <= set(each) | {"reconciling", "waitsFor", "since"}, kind
        assert set(made["history"]) == set(own["history"])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_a_page_with_500_claims_and_2000_pods_stays_short(large_ui, page, size, scheme):
    shown(page, large_ui, size, scheme)
    assert_it_fits(page, size, 7)
    assert "2,000 pods, by cause" in text_of(page, "#waiting") and "5 of 30 shown" in text_of(page, "#waiting")
    assert "2,000 waiting" in text_of(page, "#facts")
    assert page.evaluate("document.querySelectorAll('#claims .row').length") <= 12


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", [status_documents.well, status_documents.troubled])
def test_the_page_fits_each_screen(site, page, make, size, scheme):
    site.document = make()
    shown(page, site.url, size, scheme)
    assert_it_fits(page, size, 6)
    picture = page.screenshot(.7 if size == "desktop" else .75, 1400 if size == "desktop" else 1900)
    assert picture.startswith(b"\x89PNG")
    if (folder := os.environ.get("KUBENODESMITH_SCREENSHOTS")) and make is status_documents.troubled:
        (Path(folder) / f"status-page-{size}-{scheme}.png").write_bytes(picture)


def test_two_nodes_need_less_than_three_screens_of_a_phone(site, page):
    site.document = status_documents.small()
    shown(page, site.url, "phone")
    assert_it_fits(page, "phone", 3)


def test_the_first_line_says_what_is_wrong_and_leads_there(site, page):
    site.document = status_documents.well()
    shown(page, site.url)
    assert text_of(page, "h1") == "Everything is well"
    site.document = status_documents.troubled()
    page.evaluate("look()")
    assert text_of(page, "h1") == "Provider lab/proxmox: StorageLow and 3 more problems"
    page.evaluate("document.querySelector('h1 a').click()")
    page.wait("document.getElementById('provider/lab/proxmox').classList.contains('marked')")
    assert "21 pods wait" in text_of(page, "#waiting")
    assert "Insufficient nvidia.com/gpu" in text_of(page, "#waiting")


def test_a_link_leads_to_a_claim_far_down_the_list(site, page):
    site.document = status_documents.large()
    shown(page, site.url, "phone")
    name = site.document["claims"][400]["name"]
    assert not page.evaluate(f"Boolean(document.getElementById('claim/lab/{name}'))")
    page.evaluate(f"location.hash = 'claim/lab/{name}'")
    page.wait(f"document.getElementById('claim/lab/{name}')?.classList.contains('marked')")


def test_a_filter_and_what_is_unfolded_survive_an_update(site, page):
    site.document = status_documents.large()
    shown(page, site.url)
    page.evaluate("parts.claims.filter.focus(); parts.claims.filter.value = 'host-07'; parts.claims.filter.dispatchEvent(new Event('input'))")
    page.evaluate("document.querySelector('#waiting summary').click()")
    page.wait("document.querySelectorAll('#waiting details[open] li').length > 0")
    page.evaluate("look()")
    assert page.evaluate("[...document.querySelectorAll('#claims .row')].every(row => row.innerText.includes('host-07'))")
    assert page.evaluate("document.activeElement === document.querySelector('#claims input')")
    assert page.evaluate("document.querySelectorAll('#waiting details[open] li').length > 0")


def test_a_page_whose_operator_is_gone_says_how_old_it_is(site, page):
    site.document = status_documents.well()
    shown(page, site.url)
    site.document = None
    page.evaluate("look()")
    assert re.fullmatch(r"Last update \d+ s ago: no answer", text_of(page, "#freshness-text"))
    assert text_of(page, "h1") == "Everything is well"  # what was known stays on the page
    page.evaluate("state.received -= kPatience; look()")
    assert page.evaluate("state.timer") == 0, "it has given up"
    site.document = status_documents.well()
    page.evaluate("document.getElementById('retry').click()")
    page.wait("document.getElementById('freshness-text').textContent.startsWith('Updated')")


def test_text_of_a_cluster_is_never_markup(site, page):
    script = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    site.document = status_documents.troubled()
    for each in (*site.document["claims"], *site.document["troubles"], *site.document["decisions"], *site.document["stays"]):
        each["reason"] = each["message"] = script
        if "waitsFor" in each:
            each["waitsFor"] = {"reason": script, "message": script}
    shown(page, site.url)
    assert page.evaluate("document.querySelectorAll('img, body script').length") == 1, "the page's own script"
    assert script in text_of(page, "#waiting")
    assert not page.complaints()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing(site, page, size, scheme):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make judges")
    site.document = status_documents.troubled()
    shown(page, site.url, size, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; }); "
                  "document.querySelectorAll('button[aria-expanded=false]').forEach(each => each.click())")
    page.wait("document.querySelectorAll('#decisions .row').length > 0")
    page.evaluate(AXE.read_text() + "; 0")
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
                          ".then(r => r.violations.map(v => `${v.impact}: ${v.id}: ${v.nodes.map(n => n.html).join(' ')}`))")
    assert not found
