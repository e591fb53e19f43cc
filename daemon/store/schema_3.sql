-- What format version 3 adds to version 2: results of rooflines and benches.

CREATE TABLE bench_runs (
  id INTEGER PRIMARY KEY,
  started_at TEXT NOT NULL,
  device TEXT NOT NULL,
  pci TEXT,
  vendor_id INTEGER,
  device_id INTEGER,
  revision_id INTEGER,
  driver TEXT NOT NULL,
  driver_info TEXT NOT NULL,
  subgroup_sizes TEXT NOT NULL,
  simulated INTEGER NOT NULL,
  quick INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  clock_mhz REAL,
  power_w REAL,
  temperature_c REAL
) STRICT;

CREATE TABLE bench_tests (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  why TEXT NOT NULL,
  unit TEXT NOT NULL,
  axis TEXT NOT NULL,
  axis_unit TEXT NOT NULL,
  result_proof TEXT NOT NULL,
  isa_proof TEXT NOT NULL,
  rate_proof TEXT NOT NULL,
  start_ns INTEGER,
  end_ns INTEGER
) STRICT;

CREATE TABLE bench_points (
  id INTEGER PRIMARY KEY,
  test INTEGER NOT NULL,
  series TEXT NOT NULL,
  x REAL NOT NULL,
  median REAL,
  p5 REAL,
  p95 REAL,
  samples INTEGER NOT NULL,
  status TEXT NOT NULL,
  why TEXT NOT NULL,
  drifts INTEGER NOT NULL,
  code_bytes REAL,
  vgprs REAL,
  waves_per_simd REAL,
  clock_before_mhz REAL,
  clock_after_mhz REAL,
  power_w REAL,
  start_ns INTEGER,
  end_ns INTEGER
) STRICT;

-- The kernel's own formula against the instructions that were compiled.
CREATE TABLE bench_counts (
  id INTEGER PRIMARY KEY,
  test INTEGER NOT NULL,
  kernel TEXT NOT NULL,
  operation TEXT NOT NULL,
  formula REAL NOT NULL,
  isa REAL
) STRICT;

CREATE TABLE bench_values (
  id INTEGER PRIMARY KEY,
  test INTEGER NOT NULL,
  what TEXT NOT NULL,
  value REAL NOT NULL,
  lower REAL,
  upper REAL,
  unit TEXT NOT NULL,
  confidence TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;

CREATE VIEW bench AS
SELECT t.run AS run,
       t.name AS test,
       p.series AS series,
       p.x AS x,
       t.axis_unit AS x_unit,
       p.median AS median,
       t.unit AS unit,
       CASE t.status WHEN 'ok' THEN p.status ELSE t.status END AS status
FROM bench_points AS p
JOIN bench_tests AS t ON t.id = p.test;
