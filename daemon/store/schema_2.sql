-- What format version 2 adds to version 1: sensors, processes, frames.

CREATE TABLE sensor_sources (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  gpu_pci TEXT,
  reads INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  late INTEGER NOT NULL,
  cost_ns INTEGER NOT NULL,
  worst_ns INTEGER NOT NULL,
  rate_hz REAL NOT NULL,
  problem TEXT NOT NULL
) STRICT;

CREATE TABLE sensors (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL,
  name TEXT NOT NULL,
  origin TEXT NOT NULL,
  label TEXT NOT NULL,
  unit TEXT NOT NULL,
  kind TEXT NOT NULL,
  covers TEXT NOT NULL,
  decision TEXT NOT NULL
) STRICT;

-- One row for readings that followed each other with the same value. Appended when a run ends, so
-- pages fill up; an index would cost half as much again.
CREATE TABLE sensor_runs (
  id INTEGER PRIMARY KEY,
  series INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  span_ns INTEGER NOT NULL,
  readings INTEGER NOT NULL,
  value REAL NOT NULL
) STRICT;

CREATE TABLE drm_clients (
  id INTEGER PRIMARY KEY,
  pid INTEGER NOT NULL,
  process TEXT NOT NULL,
  pdev TEXT NOT NULL,
  client_id INTEGER NOT NULL
) STRICT;

CREATE TABLE client_usage (
  id INTEGER PRIMARY KEY,
  client INTEGER NOT NULL,
  time_ns INTEGER NOT NULL,
  vram_bytes INTEGER,
  gtt_bytes INTEGER
) STRICT;

CREATE TABLE client_engines (
  id INTEGER PRIMARY KEY,
  client INTEGER NOT NULL,
  time_ns INTEGER NOT NULL,
  engine TEXT NOT NULL,
  busy_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE frames (
  id INTEGER PRIMARY KEY,
  end_ns INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL
) STRICT;

CREATE VIEW sensor_values AS
SELECT s.name AS name,
       s.origin AS source,
       s.unit AS unit,
       s.label AS label,
       (r.start_ns - (SELECT start_ns FROM session_start)) / 1e9 AS start_s,
       (r.start_ns + r.span_ns - (SELECT start_ns FROM session_start)) / 1e9 AS end_s,
       r.readings AS readings,
       r.value AS value
FROM sensor_runs AS r
JOIN sensors AS s ON s.id = r.series;
