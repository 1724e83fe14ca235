// All names that are part of a contract: labels, annotations, taints, finalizers, condition types, reasons.
// Names from the Go project KubeNodeSmith keep their spelling and meaning.
#pragma once
#include <string_view>

namespace api {

inline constexpr std::string_view kGroup = "kubenodesmith.parawell.cloud";
inline constexpr std::string_view kVersion = "v1alpha1";
inline constexpr std::string_view kFieldManager = "kubenodesmith";

namespace labels {
inline constexpr std::string_view kPool = "topology.kubenodesmith.io/pool";  // default of spec.poolLabelKey
inline constexpr std::string_view kClaim = "kubenodesmith.io/nodeclaim";
inline constexpr std::string_view kHost = "kubenodesmith.io/host";
// On a Node: the claim that it belongs to, according to a person. No kubelet can set it, as NodeRestriction
// protects it.
inline constexpr std::string_view kStatedClaim = "node-restriction.kubernetes.io/kubenodesmith-claim";
inline constexpr std::string_view kClaimUID = "kubenodesmith.io/claim-uid";
// "true" on a Secret allows pools and control planes to pass its content to machines.
inline constexpr std::string_view kBootData = "kubenodesmith.io/boot-data";
// The operator's pod only runs on Nodes with one of these two (config/manager). Kubelets cannot set them
// (admission plugin NodeRestriction), and no machine of a pool gets them.
inline constexpr std::string_view kControlPlaneRole = "node-role.kubernetes.io/control-plane";
inline constexpr std::string_view kOperatorPlace = "node-restriction.kubernetes.io/kubenodesmith-operator";
inline constexpr std::string_view kZone = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegion = "topology.kubernetes.io/region";
inline constexpr std::string_view kHostname = "kubernetes.io/hostname";
inline constexpr std::string_view kArch = "kubernetes.io/arch";
inline constexpr std::string_view kOs = "kubernetes.io/os";
inline constexpr std::string_view kExcludeFromLoadBalancers =
    "node.kubernetes.io/exclude-from-external-load-balancers";
inline constexpr std::string_view kCoschedulingGroup = "scheduling.x-k8s.io/pod-group";  // PodGroup of a pod
}  // namespace labels

namespace annotations {
inline constexpr std::string_view kDoNotDisrupt = "kubenodesmith.io/do-not-disrupt";
inline constexpr std::string_view kKarpenterDoNotDisrupt = "karpenter.sh/do-not-disrupt";
inline constexpr std::string_view kSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict";
inline constexpr std::string_view kVolcanoGroup =
    "scheduling.k8s.io/group-name";  // Volcano's PodGroup of a pod
inline constexpr std::string_view kScaleDownDisabled = "cluster-autoscaler.kubernetes.io/scale-down-disabled";
// On a NodeSmithHost: a new value requests another try of credentials that its BMC refused.
inline constexpr std::string_view kRetryCredentials = "kubenodesmith.io/retry-credentials";
inline constexpr std::string_view kAdopt = "kubenodesmith.io/adopt";  // on a NodeSmithHost
// On a Provider: the name or the identity of the Proxmox cluster to which a person has moved it.
inline constexpr std::string_view kAcceptCluster = "kubenodesmith.io/accept-cluster";
// On a Lease: the random epochs of its leaders, the newest last.
inline constexpr std::string_view kEpochs = "kubenodesmith.io/epochs";
// On a Provider: the epoch of another operator of the same machines that a person has ended for good.
inline constexpr std::string_view kOtherOperatorEnded = "kubenodesmith.io/other-operator-ended";
inline constexpr std::string_view kMachineGone = "kubenodesmith.io/machine-gone";  // on a claim
// On a PersistentVolumeClaim or a StorageClass: says whether local data may be lost with the node.
inline constexpr std::string_view kLocalData = "kubenodesmith.io/local-data";
inline constexpr std::string_view kDisposable = "Disposable";
// On a claim: says what happens to the volumes on its machine's disk.
inline constexpr std::string_view kLocalVolumes = "kubenodesmith.io/local-volumes";
inline constexpr std::string_view kDiscard = "discard";
inline constexpr std::string_view kLaunchedFor = "kubenodesmith.io/launched-for";  // on a claim: UIDs of pods
inline constexpr std::string_view kLaunchedForKinds =
    "kubenodesmith.io/launched-for-kinds";  // on a claim: kinds of these pods, see
                                            // scheduling/pods/pod_kind.hpp
// On a claim: a person wants another machine in its place, whatever the pool's policy for drift is. Each
// value is a request of its own, so that the machine that comes may be replaced in turn.
inline constexpr std::string_view kReplace = "kubenodesmith.io/replace";
// On a claim: the claim whose machine it replaces, the cause, and its number in the series of replacements
// for that cause.
inline constexpr std::string_view kReplaces = "kubenodesmith.io/replaces";
inline constexpr std::string_view kReplacesFor = "kubenodesmith.io/replaces-for";
inline constexpr std::string_view kReplacementsInARow = "kubenodesmith.io/replacements-in-a-row";
// On a pool: a new value requests another try after replacing did not help. Claims have the value that their
// pool had at their creation.
inline constexpr std::string_view kRetryReplacement = "kubenodesmith.io/retry-replacement";
inline constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
// On a DaemonSet: the number of its template. Its pods have it as a label.
inline constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";
inline constexpr std::string_view kDefaultStorageClass = "storageclass.kubernetes.io/is-default-class";
// An older name that the API server still reads.
inline constexpr std::string_view kBetaDefaultStorageClass =
    "storageclass.beta.kubernetes.io/is-default-class";
}  // namespace annotations

namespace taints {
inline constexpr std::string_view kDisrupted = "kubenodesmith.io/disrupted";        // NoSchedule
inline constexpr std::string_view kUnregistered = "kubenodesmith.io/unregistered";  // NoExecute
inline constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";
inline constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
inline constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";
inline constexpr std::string_view kUninitialized = "node.cloudprovider.kubernetes.io/uninitialized";

inline constexpr std::string_view kNoSchedule = "NoSchedule";
inline constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";
inline constexpr std::string_view kNoExecute = "NoExecute";
}  // namespace taints

namespace finalizers {
inline constexpr std::string_view kClaim = "kubenodesmith.io/nodesmithclaim";
inline constexpr std::string_view kPool = "kubenodesmith.io/nodepool";
inline constexpr std::string_view kProvider = "kubenodesmith.io/nodesmithprovider";
inline constexpr std::string_view kHost = "kubenodesmith.io/nodesmithhost";
// On Secrets of providers and hosts, and on the RoleBinding that lets the operator remove it from them.
inline constexpr std::string_view kCredentials = "kubenodesmith.io/credentials-in-use";
}  // namespace finalizers

// Keys of a Provider's credentials Secret.
namespace secret_keys {
inline constexpr std::string_view kTokenID = "PROXMOX_TOKEN_ID";
inline constexpr std::string_view kTokenSecret = "PROXMOX_SECRET";
inline constexpr std::string_view kProxmoxUsername = "PROXMOX_USERNAME";
inline constexpr std::string_view kProxmoxPassword = "PROXMOX_PASSWORD";
inline constexpr std::string_view kSkipTLSVerify = "PROXMOX_SKIP_TLS_VERIFY";
inline constexpr std::string_view kUsername = "username";
inline constexpr std::string_view kPassword = "password";
}  // namespace secret_keys

namespace conditions {
inline constexpr std::string_view kReady = "Ready";        // every kind, and Nodes
inline constexpr std::string_view kAccepted = "Accepted";  // every kind, only while False
// On every kind, only while True, with the meaning of kstatus (sigs.k8s.io/cli-utils). Reconciling: work is
// in progress. Stalled: no progress before somebody changes something.
inline constexpr std::string_view kReconciling = "Reconciling";
inline constexpr std::string_view kStalled = "Stalled";
// Claim
inline constexpr std::string_view kLaunched = "Launched";
inline constexpr std::string_view kRegistered = "Registered";
inline constexpr std::string_view kInitialized = "Initialized";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kDrifted = "Drifted";
inline constexpr std::string_view kDisrupted = "Disrupted";
inline constexpr std::string_view kDrained = "Drained";
inline constexpr std::string_view kVolumesDetached = "VolumesDetached";
inline constexpr std::string_view kMachineDeleted = "MachineDeleted";
inline constexpr std::string_view kAdopted = "Adopted";
// Present only while False: the provider does not find the machine, but the operator does not yet conclude
// that it is gone.
inline constexpr std::string_view kMachineFound = "MachineFound";
inline constexpr std::string_view kPowerCycled = "PowerCycled";  // a repair power-cycled the machine
// Present only while True: its machine is in service and switched off.
inline constexpr std::string_view kPoweredOff = "PoweredOff";
// Present only while True: its machine waits for a person's decision about the volumes on its disk.
inline constexpr std::string_view kKeptForVolumes = "KeptForVolumes";
// Present only while True: the claim took its machine up again without knowing whether it had been in
// service.
inline constexpr std::string_view kStatusLost = "StatusLost";
// Present only while True: several Nodes report the system UUID of its machine.
inline constexpr std::string_view kIdentityContested = "IdentityContested";
// Present only if its young Node had a taint that its pool does not declare. False: the taint is present.
inline constexpr std::string_view kTaintsSettled = "TaintsSettled";
// Pool
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kProgressing = "Progressing";
inline constexpr std::string_view kManaged = "Managed";
inline constexpr std::string_view kProviderReady = "ProviderReady";
// Pool, present only while True
inline constexpr std::string_view kLabelsContested = "LabelsContested";
inline constexpr std::string_view kReplacementDoesNotHelp = "ReplacementDoesNotHelp";
inline constexpr std::string_view kTakenAway = "TakenAway";  // others delete its Nodes, machines or claims
inline constexpr std::string_view kAddressConflict = "AddressConflict";  // others have its claims' addresses
inline constexpr std::string_view kUndeclaredTaints = "UndeclaredTaints";  // its youngest Node keeps one
// Provider
inline constexpr std::string_view kCredentialsResolved = "CredentialsResolved";
inline constexpr std::string_view kReachable = "Reachable";  // and Host
inline constexpr std::string_view kTemplateResolved = "TemplateResolved";
inline constexpr std::string_view kOrphansFound = "OrphansFound";
inline constexpr std::string_view kConfigurationValid = "ConfigurationValid";
// Present only while True: so many machines vanished simultaneously that a person must check.
inline constexpr std::string_view kMachinesVanished = "MachinesVanished";
// Present only while True: another operator owns the same machines, and a person must decide.
inline constexpr std::string_view kOtherOperatorFound = "OtherOperatorFound";
// Present only while False: requirements of machines that join this way.
inline constexpr std::string_view kBootImagesUsable = "BootImagesUsable";
inline constexpr std::string_view kGuestAgentUsable = "GuestAgentUsable";
inline constexpr std::string_view kCredentialsProtected = "CredentialsProtected";  // only while False
// Present only while True: a storage for machine disks is nearly full.
inline constexpr std::string_view kStorageLow = "StorageLow";
// Host
inline constexpr std::string_view kAuthenticated = "Authenticated";
inline constexpr std::string_view kIdentityVerified = "IdentityVerified";
inline constexpr std::string_view kInventoryComplete = "InventoryComplete";
inline constexpr std::string_view kBootable = "Bootable";  // with its provider's boot settings
// Present only if hosts are locked on their BMC.
inline constexpr std::string_view kLockable = "Lockable";
inline constexpr std::string_view kHealthy = "Healthy";
// ControlPlane
inline constexpr std::string_view kClusterHealthy = "ClusterHealthy";
inline constexpr std::string_view kTokensBoundToNodes = "TokensBoundToNodes";
// Pod
inline constexpr std::string_view kPodScheduled = "PodScheduled";
inline constexpr std::string_view kPodResizePending = "PodResizePending";
}  // namespace conditions

namespace reasons {
// Claim, with the condition they belong to
inline constexpr std::string_view kLaunched = "Launched";
inline constexpr std::string_view kWaiting = "Waiting";                            // Launched: not started
inline constexpr std::string_view kLaunching = "Launching";                        // Launched: in progress
inline constexpr std::string_view kLimitExceeded = "LimitExceeded";                // Launched
inline constexpr std::string_view kNoHostLargeEnough = "NoHostLargeEnough";        // Launched, Failed
inline constexpr std::string_view kWithdrawn = "Withdrawn";                        // Launched
inline constexpr std::string_view kInsufficientCapacity = "InsufficientCapacity";  // Launched
inline constexpr std::string_view kAddressesExhausted = "AddressesExhausted";      // Launched, Available
inline constexpr std::string_view kNameTaken = "NameTaken";                        // Launched, Failed
inline constexpr std::string_view kCertificateIssued = "CertificateIssued";        // Failed: for its name
inline constexpr std::string_view kSameSystemUUID = "SameSystemUUID";              // IdentityContested
inline constexpr std::string_view kProviderError = "ProviderError";                // Launched
inline constexpr std::string_view kLaunchAttemptsExceeded = "LaunchAttemptsExceeded";  // Failed
inline constexpr std::string_view kProvisionTimeout = "ProvisionTimeout";              // Launched
inline constexpr std::string_view kRegistered = "Registered";
inline constexpr std::string_view kNodeNotFound = "NodeNotFound";                                // Registered
inline constexpr std::string_view kNodeIdentityMismatch = "NodeIdentityMismatch";                // Registered
inline constexpr std::string_view kRegistrationTimeout = "RegistrationTimeout";                  // Registered
inline constexpr std::string_view kRegistrationTimeoutExceeded = "RegistrationTimeoutExceeded";  // Failed
inline constexpr std::string_view kInitialized = "Initialized";
inline constexpr std::string_view kNodeNotReady = "NodeNotReady";                    // Initialized, Ready
inline constexpr std::string_view kCloudProviderAwaited = "CloudProviderAwaited";    // Initialized
inline constexpr std::string_view kStartupTaintsPresent = "StartupTaintsPresent";    // Initialized
inline constexpr std::string_view kResourcesMissing = "ResourcesMissing";            // Initialized
inline constexpr std::string_view kInitializationTimeout = "InitializationTimeout";  // Initialized
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kDraining = "Draining";
inline constexpr std::string_view kDrained = "Drained";
inline constexpr std::string_view kDrainTimeout = "DrainTimeout";
inline constexpr std::string_view kBlockedByBudget = "BlockedByBudget";
inline constexpr std::string_view kEvictionFailed = "EvictionFailed";  // Drained
inline constexpr std::string_view kDrainStalled = "DrainStalled";      // for minutes between attempts
inline constexpr std::string_view kVolumesAttached = "VolumesAttached";
inline constexpr std::string_view kVolumesDetached = "VolumesDetached";
inline constexpr std::string_view kDeleting = "Deleting";
inline constexpr std::string_view kMachineDeleted = "MachineDeleted";
inline constexpr std::string_view kHostUnreachable = "HostUnreachable";  // MachineDeleted, PoweredOff
inline constexpr std::string_view kRetained = "Retained";                // MachineDeleted
inline constexpr std::string_view kMarkMismatch = "MarkMismatch";        // MachineDeleted
inline constexpr std::string_view kAttemptFailed = "AttemptFailed";      // MachineDeleted: will be removed
inline constexpr std::string_view kNothingLaunched =
    "NothingLaunched";                                           // MachineDeleted: no machine ever existed
inline constexpr std::string_view kStatedGone = "StatedGone";    // MachineDeleted: stated by the user
inline constexpr std::string_view kNodeIsReady = "NodeIsReady";  // MachineFound
inline constexpr std::string_view kMachineVanished = "MachineVanished";  // MachineDeleted, Disrupted
inline constexpr std::string_view kNodeDeleted = "NodeDeleted";  // Disrupted, Drained: by somebody else
inline constexpr std::string_view kNotAdopted = "NotAdopted";    // Adopted, MachineDeleted
inline constexpr std::string_view kBootDataMissing = "BootDataMissing";  // Launched
inline constexpr std::string_view kClaimsRefused = "ClaimsRefused";      // Available: by the API server
inline constexpr std::string_view kRequestRefused = "RequestRefused";    // any: by the API server
inline constexpr std::string_view kVolumeDetachTimeout = "VolumeDetachTimeout";  // VolumesDetached
inline constexpr std::string_view kKept = "Kept";                      // MachineDeleted: stopped and kept
inline constexpr std::string_view kLocalVolumes = "LocalVolumes";      // KeptForVolumes
inline constexpr std::string_view kTakenUp = "TakenUp";                // StatusLost
inline constexpr std::string_view kPaused = "Paused";                  // Launched: ControlPlane.mode
inline constexpr std::string_view kObserve = "Observe";                // Launched: ControlPlane.mode
inline constexpr std::string_view kStarting = "Starting";              // PoweredOff: we are starting it
inline constexpr std::string_view kWaitingForRoom = "WaitingForRoom";  // PoweredOff: its host has no room
inline constexpr std::string_view kStartFailed = "StartFailed";        // PoweredOff
inline constexpr std::string_view kSwitchedOffByOthers = "SwitchedOffByOthers";  // PoweredOff: left off
inline constexpr std::string_view kNotReconciled = "NotReconciled";
inline constexpr std::string_view kCacheStale = "CacheStale";      // no condition: why nodes are kept
inline constexpr std::string_view kUnknownValue = "UnknownValue";  // Accepted and Ready of every kind
inline constexpr std::string_view kNamespaceNotManaged = "NamespaceNotManaged";  // Ready of every kind
inline constexpr std::string_view kTaintNotDeclared = "TaintNotDeclared";        // TaintsSettled
inline constexpr std::string_view kTaintsGone = "TaintsGone";                    // TaintsSettled
inline constexpr std::string_view kTaintStays = "TaintStays";  // TaintsSettled, UndeclaredTaints
// Disrupted; also reasons in disruption budgets
inline constexpr std::string_view kEmpty = "Empty";
inline constexpr std::string_view kUnderutilized = "Underutilized";
inline constexpr std::string_view kDrifted = "Drifted";
inline constexpr std::string_view kExpired = "Expired";
inline constexpr std::string_view kUnhealthy = "Unhealthy";
inline constexpr std::string_view kEvacuation = "Evacuation";
// Pool
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kClaimDeleted = "ClaimDeleted";          // TakenAway
inline constexpr std::string_view kAddressHeldTwice = "AddressHeldTwice";  // AddressConflict
inline constexpr std::string_view kNothingOffered = "NothingOffered";
inline constexpr std::string_view kMaxNodesReached = "MaxNodesReached";
inline constexpr std::string_view kResourceLimitReached = "ResourceLimitReached";
inline constexpr std::string_view kBackingOff = "BackingOff";
inline constexpr std::string_view kCreationFails = "CreationFails";  // Available
inline constexpr std::string_view kRateLimited = "RateLimited";      // Available, Disrupted
inline constexpr std::string_view kScalingUp = "ScalingUp";
inline constexpr std::string_view kScalingDown = "ScalingDown";
inline constexpr std::string_view kStable = "Stable";
inline constexpr std::string_view kSelected = "Selected";        // Managed
inline constexpr std::string_view kNotSelected = "NotSelected";  // Managed
inline constexpr std::string_view kLabelConflict = "LabelConflict";
inline constexpr std::string_view kPoolLabelKeyReserved = "PoolLabelKeyReserved";
inline constexpr std::string_view kLabelInvalid = "LabelInvalid";
inline constexpr std::string_view kOverwrittenByOthers = "OverwrittenByOthers";  // LabelsContested
inline constexpr std::string_view kReplacementDoesNotHelp =
    "ReplacementDoesNotHelp";  // of a node that is kept
inline constexpr std::string_view kProviderNotFound = "ProviderNotFound";
inline constexpr std::string_view kProviderNotReady = "ProviderNotReady";
// Provider
inline constexpr std::string_view kCredentialsResolved = "CredentialsResolved";
inline constexpr std::string_view kSecretMissing = "SecretMissing";
inline constexpr std::string_view kSecretForbidden = "SecretForbidden";
inline constexpr std::string_view kSecretKeyMissing = "SecretKeyMissing";
inline constexpr std::string_view kSecretNamespaceRefused = "SecretNamespaceRefused";
inline constexpr std::string_view kReachable = "Reachable";
inline constexpr std::string_view kUnreachable = "Unreachable";
inline constexpr std::string_view kForbidden = "Forbidden";
inline constexpr std::string_view kUnsupportedType = "UnsupportedType";
inline constexpr std::string_view kOrphansFound = "OrphansFound";
inline constexpr std::string_view kNoOrphans = "NoOrphans";
inline constexpr std::string_view kOtherCluster = "OtherCluster";  // also of claims
// OtherOperatorFound, and why nodes are kept
inline constexpr std::string_view kOtherOperator = "OtherOperator";
inline constexpr std::string_view kManyVanished = "ManyVanished";  // MachinesVanished, MachineFound
inline constexpr std::string_view kTemplateResolved = "TemplateResolved";
inline constexpr std::string_view kTemplateNotFound = "TemplateNotFound";
inline constexpr std::string_view kTemplateAmbiguous = "TemplateAmbiguous";
inline constexpr std::string_view kImagePreparing = "ImagePreparing";
inline constexpr std::string_view kImageFailed = "ImageFailed";
inline constexpr std::string_view kConfigurationValid = "ConfigurationValid";
inline constexpr std::string_view kMissingPrivileges = "MissingPrivileges";
inline constexpr std::string_view kStorageLow = "StorageLow";
inline constexpr std::string_view kConfigurationInvalid = "ConfigurationInvalid";  // on some hosts or all
// ControlPlane
inline constexpr std::string_view kPoolsResolved = "PoolsResolved";
inline constexpr std::string_view kPoolMissing = "PoolMissing";
inline constexpr std::string_view kProviderRefMissing = "ProviderRefMissing";
inline constexpr std::string_view kProviderMissing = "ProviderMissing";
inline constexpr std::string_view kProviderInitializationFailed = "ProviderInitializationFailed";
inline constexpr std::string_view kTokensMayNotJoin = "TokensMayNotJoin";
inline constexpr std::string_view kHealthy = "Healthy";                              // ClusterHealthy
inline constexpr std::string_view kTooManyUnready = "TooManyUnready";                // ClusterHealthy
inline constexpr std::string_view kOperatorApproves = "OperatorApproves";            // TokensBoundToNodes
inline constexpr std::string_view kClusterApprovesTokens = "ClusterApprovesTokens";  // TokensBoundToNodes
inline constexpr std::string_view kApprovalLeftToCluster = "ApprovalLeftToCluster";  // TokensBoundToNodes
inline constexpr std::string_view kFormatTrustsTokens = "FormatTrustsTokens";        // TokensBoundToNodes
// Pod
inline constexpr std::string_view kUnschedulable = "Unschedulable";
}  // namespace reasons

}  // namespace api
