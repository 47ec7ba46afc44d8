const digest = 'sha256:1111111111111111111111111111111111111111111111111111111111111111'

/**
 * Values that the chart rejects, with a pattern of each message: the place and the fault. Go also compiles the
 * patterns.
 */
export const REFUSED: readonly [what: string, values: Record<string, unknown>, says: RegExp][] = [
  ['no registry', { image: { registry: '' } }, /image\.registry is missing: set it to/],
  [
    'a registry with a scheme',
    { image: { registry: 'https://registry.example.com' } },
    /\/image\/registry.*does not match/s,
  ],
  ['a value that does not exist', { replicaCount: 3 }, /additional properties 'replicaCount' not allowed/],
  [
    'a misspelt value of a service',
    { services: { gateway: { replica: 3 } } },
    /\/services\/gateway.*'replica' not allowed/s,
  ],
  ['a service with an impossible name', { services: { Gate_way: {} } }, /Gate_way/],
  ['a number as text', { services: { gateway: { replicas: 'three' } } }, /replicas.*got string, want integer/s],
  ['fewer than no replicas', { services: { gateway: { replicas: -1 } } }, /replicas.*minimum: got -1, want 0/s],
  ['a port out of range', { services: { identity: { port: 70000 } } }, /identity\/port.*maximum: got 70,?000/s],
  ['a port for root alone', { services: { identity: { port: 80 } } }, /identity\/port.*minimum: got 80/s],
  ['an unknown protocol', { services: { identity: { protocol: 'thrift' } } }, /protocol.*one of 'grpc', 'http'/s],
  ['an unknown store', { services: { audience: { stores: ['postgres'] } } }, /stores.*one of 'mongodb'/s],
  ['an unknown key', { services: { audience: { keys: ['ASSERTION_KYE'] } } }, /keys.*one of 'ASSERTION_KEY'/s],
  ['a setting in lower case', { services: { identity: { settings: { sessionHours: 1 } } } }, /sessionHours/],
  [
    'a setting that is a list',
    { services: { identity: { settings: { REGISTRATION: ['open'] } } } },
    /REGISTRATION.*got array/s,
  ],
  [
    'a secret in the open',
    { services: { messaging: { settings: { SMTP_URL: 'smtp://user:password@mail.example.com' } } } },
    /SMTP_URL would show a secret: name the Secret that holds it in services\.messaging\.secrets\.SMTP_URL/,
  ],
  [
    'a key in the open',
    { services: { gateway: { settings: { TOKEN_KEY: 'a'.repeat(44) } } } },
    /TOKEN_KEY would show a secret/,
  ],
  [
    'a setting that is the chart’s to make',
    { services: { gateway: { settings: { INTERNAL_PORT: 1 } } } },
    /services\.gateway\.settings\.INTERNAL_PORT is set by the chart/,
  ],
  ['a secret without a key', { stores: { mongodb: { secret: { name: 'x', key: null } } } }, /mongodb\/secret.*key/s],
  ['a digest cut short', { services: { gateway: { image: { digest: 'sha256:1234' } } } }, /digest.*does not match/s],
  [
    'an image without the required digest',
    { image: { registry: 'registry.example.com', requireDigests: true }, services: { gateway: { image: { digest } } } },
    /services\.audience\.image\.digest is missing: image\.requireDigests is on/,
  ],
  [
    'a call to nobody',
    { services: { import: { calls: ['billing'] } } },
    /services\.import\.calls names billing, which is no enabled service/,
  ],
  [
    'a call to a service that is off',
    { services: { reports: { enabled: false }, import: { calls: ['reports'] } } },
    /calls names reports, which is no enabled service/,
  ],
  ['a service of the contract that is taken out', { services: { messaging: null } }, /services\.messaging is off: the/],
  ['no public service', { services: { gateway: { public: false } } }, /exactly one service has to be public, not 0/],
  [
    'two public services',
    { services: { identity: { public: true } } },
    /exactly one service has to be public, not 2: gateway, identity/,
  ],
  [
    'fewer replicas at most than at least',
    { services: { gateway: { autoscaling: { minReplicas: 5, maxReplicas: 4 } } } },
    /services\.gateway\.autoscaling\.minReplicas is above maxReplicas/,
  ],
  ['more than all of the CPU', { services: { gateway: { autoscaling: { cpuPercent: 101 } } } }, /cpuPercent.*maximum/s],
  [
    'a budget that lets nothing go',
    { services: { gateway: { disruption: { maxUnavailable: 0 } } } },
    /maxUnavailable.*minimum/s,
  ],
  [
    'an odd amount of memory',
    { services: { gateway: { resources: { limits: { memory: '1 GB' } } } } },
    /memory.*does not match/s,
  ],
  [
    'a heap that does not fit into its limit',
    { services: { import: { nodeMemoryMegabytes: 384, resources: { limits: { memory: '0.5G' } } } } },
    /services\.import\.resources\.limits\.memory is 0\.5G, but has to be at least 560Mi/,
  ],
  [
    'a heap that does not fit into a limit in bytes',
    { serviceDefaults: { resources: { limits: { memory: 536870912 } } } },
    /limits\.memory is 536870912, but has to be at least 560Mi/,
  ],
  [
    'a heap of tasks that does not fit',
    { migrations: { nodeMemoryMegabytes: 1024 } },
    /migrations\.resources\.limits\.memory is 512Mi, but has to be at least 1200Mi/,
  ],
  [
    'a stop that drains for all of its time',
    { shutdown: { drainSeconds: 30, graceSeconds: 30 } },
    /shutdown\.drainSeconds has to be less than shutdown\.graceSeconds/,
  ],
  [
    'an unknown policy for traffic from outside',
    { publicService: { externalTrafficPolicy: 'local' } },
    /externalTrafficPolicy.*one of 'Local'/s,
  ],
  ['Ingress without a host', { ingress: { enabled: true } }, /ingress\.hosts is empty: name the hosts/],
  ['a host with a path', { ingress: { enabled: true, hosts: ['example.com/api'] } }, /hosts.*does not match/s],
  ['a route without a Gateway', { httpRoute: { enabled: true } }, /httpRoute\.parentRefs is empty: name the Gateway/],
  ['a peer that is nobody', { networkPolicy: { ingressFrom: [{}] } }, /ingressFrom.*minProperties/s],
  ['an invalid block', { stores: { kafka: { peers: [{ ipBlock: { cidr: '10.0.0.1' } }] } } }, /cidr.*does not match/s],
  ['an unknown mechanism', { stores: { kafka: { sasl: { mechanism: 'md5' } } } }, /mechanism.*one of 'none'/s],
  ['a broker without a port', { stores: { kafka: { brokers: ['kafka'] } } }, /brokers.*does not match/s],
  ['an unknown level of the log', { logLevel: 'verbose' }, /logLevel.*one of 'trace'/s],
  ['a public URL without a scheme', { publicUrl: 'api.example.com' }, /publicUrl.*does not match/s],
  ['proxies that are all addresses by name', { trustProxy: 'everyone' }, /trustProxy.*does not match/s],
  [
    'a number of proxies where anybody may connect',
    { trustProxy: '1', networkPolicy: { enabled: false } },
    /trustProxy is a number of hops \(1\), which trusts every direct connection: list the CIDR blocks/,
  ],
  [
    'a proxy that nobody named, where anybody may connect',
    { ingress: { enabled: true, hosts: ['example.com'] }, networkPolicy: { enabled: false } },
    /trustProxy is a number of hops \(1\), which trusts every direct connection: list the CIDR blocks/,
  ],
  ['a collector without a scheme', { tracing: { endpoint: 'collector:4317' } }, /endpoint.*does not match/s],
  ['more traces than there are', { tracing: { sampleRatio: '2' } }, /sampleRatio.*does not match/s],
  ['pods as root', { securityContext: { runAsUser: 0 } }, /runAsUser.*minimum/s],
  [
    'servers of tenants that network policies keep out of reach',
    { services: { gateway: { settings: { TENANT_SERVERS: 'aaaaaaaaaaaaaaaaaaaaaaaa=tenant.example.com:50051' } } } },
    /services\.gateway\.egress is empty: let network policies reach the servers of TENANT_SERVERS/,
  ],
  [
    'topics made by a service without Kafka',
    { topics: { service: 'gateway' } },
    /topics\.service names gateway, which does not use kafka/,
  ],
]
