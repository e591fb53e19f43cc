-- A gputrace session. docs/database.md explains every table; times are CLOCK_MONOTONIC
-- nanoseconds of the recording machine unless the name says otherwise.

CREATE TABLE session (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  kind TEXT NOT NULL,
  label TEXT,
  origin TEXT NOT NULL,
  started_monotonic_ns INTEGER,
  started_boottime_ns INTEGER,
  started_realtime_ns INTEGER,
  end_ns INTEGER,
  exit_code INTEGER,
  signal INTEGER
) STRICT;

CREATE TABLE command_words (
  position INTEGER PRIMARY KEY,
  word TEXT NOT NULL
) STRICT;

CREATE TABLE segments (
  id INTEGER PRIMARY KEY,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  reason TEXT NOT NULL,
  rate_hz REAL,
  regdb_table TEXT NOT NULL,
  regdb_revision TEXT NOT NULL,
  gpu_name TEXT NOT NULL,
  gc TEXT,
  pci TEXT NOT NULL,
  vendor_id INTEGER,
  device_id INTEGER,
  revision_id INTEGER,
  driver TEXT NOT NULL,
  simulated INTEGER NOT NULL,
  scenario TEXT NOT NULL,
  ticks INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  dropped_ticks INTEGER NOT NULL,
  cpu_ns INTEGER NOT NULL,
  lateness TEXT NOT NULL
) STRICT;

CREATE TABLE registers (
  id INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  dword_offset INTEGER NOT NULL,
  source TEXT NOT NULL,
  reads INTEGER NOT NULL,
  read_cost_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE units (
  id INTEGER PRIMARY KEY,
  register INTEGER NOT NULL,
  bit INTEGER NOT NULL,
  name TEXT NOT NULL
) STRICT;

CREATE TABLE blocks (
  id INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  ticks INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  dropped_ticks INTEGER NOT NULL,
  summary BLOB NOT NULL,
  times BLOB NOT NULL,
  planes BLOB NOT NULL
) STRICT;

-- key = second * 65536 + units.id; the second counts from the segment's start. A key that only
-- grows keeps every page full (docs/database.md).
CREATE TABLE busy_seconds (
  key INTEGER PRIMARY KEY,
  busy INTEGER NOT NULL
) STRICT;

-- key = second * 65536 + registers.id
CREATE TABLE state_seconds (
  key INTEGER PRIMARY KEY,
  valid INTEGER NOT NULL,
  asleep INTEGER NOT NULL,
  unknown INTEGER NOT NULL
) STRICT;

CREATE TABLE window_means (
  id INTEGER PRIMARY KEY,
  register INTEGER NOT NULL,
  bit INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  busy REAL NOT NULL,
  samples INTEGER
) STRICT;

CREATE TABLE anchors (
  monotonic_ns INTEGER PRIMARY KEY,
  boottime_ns INTEGER NOT NULL,
  realtime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  time_ns INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE VIEW session_start AS
SELECT coalesce(started_monotonic_ns, (SELECT min(start_ns) FROM segments)) AS start_ns
FROM session;

CREATE VIEW busy AS
SELECT r.segment AS segment,
       r.name AS register,
       u.name AS unit,
       (s.start_ns - (SELECT start_ns FROM session_start)) / 1e9 + (b.key >> 16) AS start_s,
       n.valid AS n,
       b.busy AS busy,
       CASE WHEN n.valid > 0 THEN 1.0 * b.busy / n.valid END AS fraction
FROM busy_seconds AS b
JOIN units AS u ON u.id = (b.key & 65535)
JOIN registers AS r ON r.id = u.register
JOIN segments AS s ON s.id = r.segment
JOIN state_seconds AS n ON n.key = (b.key - u.id) + r.id;
