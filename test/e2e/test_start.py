"""The operator's start when the cluster is not ready for it."""

import manifests
from stack import Operator, Stack, wait_for


def test_without_crds_the_operator_waits_and_says_what_to_install(tmp_path):
    with Stack(tmp_path) as stack:
        stack.operator.start()
        wait_for("a log line about the CRDs", lambda: "crds/" in stack.operator.log_tail(), 20)
        assert not stack.operator.ready()
        stack.install_crds()
        stack.operator.wait_ready(60)
        stack.apply(*manifests.everything(stack.proxmox))
        assert stack.operator.stop() == 0


def test_an_unreachable_api_server_is_waited_for(tmp_path):
    with Stack(tmp_path) as stack:
        stack.cluster.stop()
        waiting = Operator(tmp_path, stack.cluster.kubeconfig).start()
        try:
            wait_for("a log line about the API server", lambda: "API server" in waiting.log_tail(), 20)
            assert waiting.process.poll() is None
        finally:
            waiting.kill()
