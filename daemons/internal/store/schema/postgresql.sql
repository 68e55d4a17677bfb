-- The schema of Cyborg 17.0.0 (alembic b47c8f2d1e3a) for PostgreSQL: what its
-- models say, with a name for the enum that has none there. The peer's own
-- tool cannot create it.

CREATE TYPE attach_type AS ENUM ('PCI', 'MDEV', 'TEST_PCI');
CREATE TYPE cpid_type AS ENUM ('PCI');
CREATE TYPE device_state AS ENUM ('available', 'allocated', 'pending_cleaning', 'cleaning', 'error');
CREATE TYPE device_status AS ENUM ('enabled', 'maintaining');
CREATE TYPE device_type AS ENUM ('GPU', 'FPGA', 'AICHIP', 'QAT', 'NIC', 'SSD', 'MDEV', 'PCI', 'NVME');
CREATE TYPE state AS ENUM ('Initial', 'BindStarted', 'Bound', 'BindFailed', 'Unbound', 'Deleting');
CREATE TYPE substate AS ENUM ('Initial');

CREATE TABLE alembic_version (
    version_num varchar(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE devices (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL UNIQUE,
    "type" device_type NOT NULL,
    vendor varchar(255) NOT NULL,
    model varchar(255) NOT NULL,
    std_board_info text,
    vendor_board_info text,
    hostname varchar(255) NOT NULL,
    status device_status NOT NULL,
    device_state device_state,
    created_at timestamp,
    updated_at timestamp
);

CREATE TABLE controlpath_ids (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL UNIQUE,
    device_id integer NOT NULL REFERENCES devices (id) ON DELETE RESTRICT,
    cpid_type cpid_type NOT NULL,
    cpid_info varchar(255) NOT NULL,
    created_at timestamp,
    updated_at timestamp
);
CREATE INDEX ix_controlpath_ids_device_id ON controlpath_ids (device_id);

CREATE TABLE deployables (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL UNIQUE,
    parent_id integer REFERENCES deployables (id),
    root_id integer REFERENCES deployables (id),
    name varchar(255) NOT NULL,
    num_accelerators integer NOT NULL,
    device_id integer NOT NULL REFERENCES devices (id) ON DELETE RESTRICT,
    rp_uuid varchar(36),
    driver_name varchar(100),
    bitstream_id varchar(36),
    created_at timestamp,
    updated_at timestamp
);
CREATE INDEX deployables_device_id_idx ON deployables (device_id);
CREATE INDEX deployables_parent_id_idx ON deployables (parent_id);
CREATE INDEX deployables_root_id_idx ON deployables (root_id);

CREATE TABLE attributes (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL UNIQUE,
    deployable_id integer NOT NULL REFERENCES deployables (id) ON DELETE RESTRICT,
    "key" text NOT NULL,
    value text NOT NULL,
    created_at timestamp,
    updated_at timestamp
);
CREATE INDEX ix_attributes_deployable_id ON attributes (deployable_id);

CREATE TABLE attach_handles (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL UNIQUE,
    deployable_id integer NOT NULL REFERENCES deployables (id) ON DELETE RESTRICT,
    cpid_id integer NOT NULL REFERENCES controlpath_ids (id) ON DELETE RESTRICT,
    in_use boolean,
    attach_type attach_type NOT NULL,
    attach_info varchar(255) NOT NULL,
    created_at timestamp,
    updated_at timestamp
);
CREATE INDEX attach_handles_cpid_id_idx ON attach_handles (cpid_id);
CREATE INDEX attach_handles_deployable_id_idx ON attach_handles (deployable_id);

CREATE TABLE device_profiles (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL,
    name varchar(255) NOT NULL UNIQUE,
    profile_json text NOT NULL,
    description text,
    created_at timestamp,
    updated_at timestamp,
    CONSTRAINT uniq_device_profiles0uuid0name UNIQUE (uuid, name)
);

CREATE TABLE extended_accelerator_requests (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL UNIQUE,
    project_id varchar(255),
    "state" state NOT NULL,
    device_profile_id integer NOT NULL REFERENCES device_profiles (id) ON DELETE RESTRICT,
    device_profile_group_id integer NOT NULL,
    hostname varchar(255),
    device_rp_uuid varchar(36),
    instance_uuid varchar(36),
    attach_handle_id integer REFERENCES attach_handles (id) ON DELETE RESTRICT,
    substate substate NOT NULL,
    deployable_id integer REFERENCES deployables (id) ON DELETE RESTRICT,
    created_at timestamp,
    updated_at timestamp
);
CREATE INDEX "extArqs_attach_handle_id_idx" ON extended_accelerator_requests (attach_handle_id);
CREATE INDEX "extArqs_deployable_id_idx" ON extended_accelerator_requests (deployable_id);
CREATE INDEX "extArqs_device_profile_id_idx" ON extended_accelerator_requests (device_profile_id);
CREATE INDEX "extArqs_device_rp_uuid_idx" ON extended_accelerator_requests (device_rp_uuid);
CREATE INDEX "extArqs_instance_uuid_idx" ON extended_accelerator_requests (instance_uuid);
CREATE INDEX "extArqs_project_id_idx" ON extended_accelerator_requests (project_id);

CREATE TABLE quota_usages (
    id serial PRIMARY KEY,
    project_id varchar(255),
    user_id varchar(255),
    resource varchar(255) NOT NULL,
    in_use integer NOT NULL,
    reserved integer NOT NULL,
    until_refresh integer,
    created_at timestamp,
    updated_at timestamp
);
CREATE INDEX ix_quota_usages_project_id ON quota_usages (project_id);
CREATE INDEX ix_quota_usages_user_id ON quota_usages (user_id);

CREATE TABLE reservations (
    id serial PRIMARY KEY,
    uuid varchar(36) NOT NULL,
    usage_id integer NOT NULL REFERENCES quota_usages (id),
    project_id varchar(255),
    user_id varchar(255),
    resource varchar(255),
    delta integer NOT NULL,
    expire timestamp,
    created_at timestamp,
    updated_at timestamp
);
CREATE INDEX ix_reservations_project_id ON reservations (project_id);
CREATE INDEX ix_reservations_user_id ON reservations (user_id);
CREATE INDEX reservations_uuid_idx ON reservations (uuid);
