"""Describes an artificial Redfish service as documents: one server with everything that the operator reads, as in the
standard."""

ROOT = "/redfish/v1"
SYSTEM = f"{ROOT}/Systems/Blade1"
MANAGER = f"{ROOT}/Managers/BMC"
CHASSIS = f"{ROOT}/Chassis/Box"
SESSIONS = f"{ROOT}/SessionService/Sessions"
WELL = {"State": "Enabled", "Health": "OK"}


def link(path):
    return {"@odata.id": path}


def resource(path, kind, **more):
    name = kind.split(".")[0]
    return {"@odata.id": path, "@odata.type": f"#{kind}.{name}", "Id": path.rsplit("/", 1)[1], "Name": name, **more}


def collection(path, kind, *members):
    return {"@odata.id": path, "@odata.type": f"#{kind}Collection.{kind}Collection", "Name": f"{kind} Collection",
            "Members@odata.count": len(members), "Members": [link(f"{path}/{member}") for member in members]}


def system():
    return resource(
        SYSTEM, "ComputerSystem.v1_20_0", **{"@odata.etag": '"1"'}, SystemType="Physical", Manufacturer="Contoso",
        Model="Standard 1U", SerialNumber="S-0001", UUID="4c4c4544-0042-3510-8054-b4c04f4d3132", AssetTag="",
        PowerState="Off", Status=WELL,
        ProcessorSummary={"Count": 2, "CoreCount": 16, "LogicalProcessorCount": 32, "ThreadingEnabled": True},
        MemorySummary={"TotalSystemMemoryGiB": 64},
        Boot={"BootSourceOverrideTarget": "None",
              "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd", "Cd", "UefiHttp"],
              "BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideMode": "UEFI", "HttpBootUri": None},
        Actions={"#ComputerSystem.Reset": {"target": f"{SYSTEM}/Actions/ComputerSystem.Reset",
                                           "@Redfish.ActionInfo": f"{SYSTEM}/ResetActionInfo"}},
        Processors=link(f"{SYSTEM}/Processors"), EthernetInterfaces=link(f"{SYSTEM}/EthernetInterfaces"),
        Storage=link(f"{SYSTEM}/Storage"), VirtualMedia=link(f"{SYSTEM}/VirtualMedia"),
        Links={"ManagedBy": [link(MANAGER)], "Chassis": [link(CHASSIS)]})


def reset_info():
    parameter = {"Name": "ResetType", "Required": True, "DataType": "String",
                 "AllowableValues": ["On", "ForceOff", "GracefulShutdown", "ForceRestart"]}
    return resource(f"{SYSTEM}/ResetActionInfo", "ActionInfo.v1_3_0", Parameters=[parameter])


def processor(number):
    return resource(f"{SYSTEM}/Processors/CPU{number}", "Processor.v1_18_0", ProcessorType="CPU", TotalCores=8, TotalThreads=16,
                    Status=WELL)


def interface(number):
    return resource(f"{SYSTEM}/EthernetInterfaces/{number}", "EthernetInterface.v1_9_0", MACAddress=f"52:54:00:AA:BB:0{number}",
                    SpeedMbps=25000, LinkStatus="LinkUp", Status=WELL)


def drive():
    path = f"{SYSTEM}/Storage/1/Drives/1"
    return resource(path, "Drive.v1_17_0", MediaType="SSD", Protocol="NVMe", CapacityBytes=960197124096, Status=WELL,
                    Actions={"#Drive.SecureErase": {"target": f"{path}/Actions/Drive.SecureErase"}})


def slot(name, kinds):
    path = f"{SYSTEM}/VirtualMedia/{name}"
    actions = {f"#VirtualMedia.{action}": {"target": f"{path}/Actions/VirtualMedia.{action}"}
               for action in ("InsertMedia", "EjectMedia")}
    actions["#VirtualMedia.InsertMedia"]["TransferMethod@Redfish.AllowableValues"] = ["Stream"]
    return resource(path, "VirtualMedia.v1_6_0", MediaTypes=kinds, Image=None, ImageName=None, Inserted=False,
                    WriteProtected=True, ConnectedVia="NotConnected", Actions=actions)


def service_root():
    services = {name: link(f"{ROOT}/{name}") for name in ("Systems", "Managers", "Chassis", "SessionService")}
    return resource(ROOT, "ServiceRoot.v1_16_0", **{"@odata.id": f"{ROOT}/"}, RedfishVersion="1.18.0", Vendor="Contoso",
                    Product="BMC", UUID="92384634-2938-2342-8820-489239905423", **services, Links={"Sessions": link(SESSIONS)})


def tree():
    """Returns an object from path, in lower case, to document, as in the recordings."""
    documents = [
        service_root(), collection(f"{ROOT}/Systems", "ComputerSystem", "Blade1"), system(), reset_info(),
        collection(f"{SYSTEM}/Processors", "Processor", "CPU1", "CPU2"), processor(1), processor(2),
        collection(f"{SYSTEM}/EthernetInterfaces", "EthernetInterface", "1", "2"), interface(1), interface(2),
        collection(f"{SYSTEM}/Storage", "Storage", "1"),
        resource(f"{SYSTEM}/Storage/1", "Storage.v1_15_0", Drives=[link(f"{SYSTEM}/Storage/1/Drives/1")], Status=WELL), drive(),
        collection(f"{SYSTEM}/VirtualMedia", "VirtualMedia", "Cd", "Usb"),
        slot("Cd", ["CD", "DVD"]), slot("Usb", ["USBStick"]),
        collection(f"{ROOT}/Managers", "Manager", "BMC"),
        resource(MANAGER, "Manager.v1_19_0", ManagerType="BMC", FirmwareVersion="1.0", Status=WELL,
                 Links={"ManagerForServers": [link(SYSTEM)], "ManagerForChassis": [link(CHASSIS)]}),
        collection(f"{ROOT}/Chassis", "Chassis", "Box"),
        resource(CHASSIS, "Chassis.v1_23_0", ChassisType="RackMount", Manufacturer="Contoso", Status=WELL,
                 EnvironmentMetrics=link(f"{CHASSIS}/EnvironmentMetrics"),
                 Links={"ComputerSystems": [link(SYSTEM)], "ManagedBy": [link(MANAGER)]}),
        resource(f"{CHASSIS}/EnvironmentMetrics", "EnvironmentMetrics.v1_3_0", PowerWatts={"Reading": 240}),
        resource(f"{ROOT}/SessionService", "SessionService.v1_1_9", ServiceEnabled=True, SessionTimeout=1800,
                 Sessions=link(SESSIONS)),
        collection(SESSIONS, "Session")]
    return {document["@odata.id"].lower().rstrip("/"): document for document in documents}
