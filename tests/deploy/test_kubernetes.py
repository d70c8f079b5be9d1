"""deploy/kubernetes: selectors find the pods, ports and probes are the server's, variables are settings."""

import re
from pathlib import PurePosixPath
from typing import Any, Final

from reflecto.server import STOP_SECONDS
from tests.deploy.files import SERVED, VARIABLES, documents, image_environment, image_user, text

FILE: Final = "kubernetes/reflecto.yaml"
MANIFESTS: Final[dict[str, Any]] = {each["kind"]: each for each in documents(FILE)}
POD: Final = MANIFESTS["Deployment"]["spec"]["template"]
(CONTAINER,) = POD["spec"]["containers"]


def test_there_is_one_manifest_of_each_kind():
    assert len(documents(FILE)) == len(MANIFESTS)
    assert set(MANIFESTS) == {"Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"}


def test_every_selector_finds_the_pods():
    labels = POD["metadata"]["labels"]
    selectors = [
        MANIFESTS["Deployment"]["spec"]["selector"]["matchLabels"],
        MANIFESTS["Service"]["spec"]["selector"],
        MANIFESTS["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        MANIFESTS["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        *(each["labelSelector"]["matchLabels"] for each in POD["spec"]["topologySpreadConstraints"]),
    ]
    assert all(selector and selector.items() <= labels.items() for selector in selectors)


def test_every_port_is_the_one_that_the_server_listens_on():
    (port,) = CONTAINER["ports"]
    assert str(port["containerPort"]) == image_environment()["REFLECTO_PORT"]
    assert POD["metadata"]["annotations"]["prometheus.io/port"] == str(port["containerPort"])
    probes = [CONTAINER[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")]
    named = [MANIFESTS["Service"]["spec"]["ports"][0]["targetPort"], *(each["port"] for each in probes)]
    allowed = [each["port"] for rule in MANIFESTS["NetworkPolicy"]["spec"]["ingress"] for each in rule["ports"]]
    assert {*named, *allowed} == {port["name"]}
    assert {each["path"] for each in probes} | {POD["metadata"]["annotations"]["prometheus.io/path"]} <= SERVED


def test_a_failover_of_the_database_takes_nobody_out():
    probe = CONTAINER["readinessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 2 * 15  # seconds that a failover may take
    assert probe["timeoutSeconds"] > 5  # after which a request hears that the database is away
    assert CONTAINER["livenessProbe"]["httpGet"]["path"] == "/healthz"  # which asks no database


def test_every_variable_is_a_setting_and_the_secrets_come_from_the_secret():
    names = {each["name"] for each in CONTAINER["env"]}
    assert names <= VARIABLES
    assert not {"REFLECTO_STORE", "REFLECTO_KEYS"} & names
    assert [each["secretRef"]["name"] for each in CONTAINER["envFrom"]] == ["reflecto"]
    assert set(re.findall(r"REFLECTO_[A-Z_]+", text(FILE))) - {"REFLECTO_PORT"} <= VARIABLES


def test_the_variables_that_kubernetes_makes_of_services_are_off_for_one_would_be_a_setting():
    service = MANIFESTS["Service"]["metadata"]["name"]
    assert f"{service.upper()}_PORT" in VARIABLES
    assert POD["spec"]["enableServiceLinks"] is False


def test_it_may_write_to_its_volumes_alone_and_is_nobody():
    user = image_user()
    pod, container = POD["spec"]["securityContext"], CONTAINER["securityContext"]
    assert (pod["runAsUser"], pod["runAsGroup"], pod["fsGroup"], pod["runAsNonRoot"]) == (user, user, user, True)
    assert container == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    (data,) = [each["value"] for each in CONTAINER["env"] if each["name"] == "REFLECTO_DATA"]
    assert {each["mountPath"] for each in CONTAINER["volumeMounts"]} == {str(PurePosixPath(data).parent), "/tmp"}  # noqa: S108
    assert {each["name"] for each in CONTAINER["volumeMounts"]} == {each["name"] for each in POD["spec"]["volumes"]}


def test_a_stop_has_the_time_it_needs_and_an_upgrade_takes_no_place_away():
    waits = CONTAINER["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert POD["spec"]["terminationGracePeriodSeconds"] > waits + STOP_SECONDS
    assert MANIFESTS["Deployment"]["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert MANIFESTS["PodDisruptionBudget"]["spec"]["maxUnavailable"] < MANIFESTS["Deployment"]["spec"]["replicas"]
