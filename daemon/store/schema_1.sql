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

-- key = second * 65536 + registers.id; the second counts from the segment's start. b0 to b31 are the
-- busy samples of the bits, NULL for bits that are no unit. One row for all bits of a register: a
-- row for each would take four times the room (docs/database.md).
CREATE TABLE register_seconds (
  key INTEGER PRIMARY KEY,
  valid INTEGER NOT NULL,
  asleep INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  b0 INTEGER, b1 INTEGER, b2 INTEGER, b3 INTEGER,
  b4 INTEGER, b5 INTEGER, b6 INTEGER, b7 INTEGER,
  b8 INTEGER, b9 INTEGER, b10 INTEGER, b11 INTEGER,
  b12 INTEGER, b13 INTEGER, b14 INTEGER, b15 INTEGER,
  b16 INTEGER, b17 INTEGER, b18 INTEGER, b19 INTEGER,
  b20 INTEGER, b21 INTEGER, b22 INTEGER, b23 INTEGER,
  b24 INTEGER, b25 INTEGER, b26 INTEGER, b27 INTEGER,
  b28 INTEGER, b29 INTEGER, b30 INTEGER, b31 INTEGER
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
SELECT segment, register, unit, start_s, n, busy,
       CASE WHEN n > 0 THEN 1.0 * busy / n END AS fraction
FROM (
  SELECT r.segment AS segment,
         r.name AS register,
         u.name AS unit,
         (s.start_ns - (SELECT start_ns FROM session_start)) / 1e9 + (k.key >> 16) AS start_s,
         k.valid AS n,
         CASE u.bit
           WHEN 0 THEN k.b0 WHEN 1 THEN k.b1 WHEN 2 THEN k.b2 WHEN 3 THEN k.b3
           WHEN 4 THEN k.b4 WHEN 5 THEN k.b5 WHEN 6 THEN k.b6 WHEN 7 THEN k.b7
           WHEN 8 THEN k.b8 WHEN 9 THEN k.b9 WHEN 10 THEN k.b10 WHEN 11 THEN k.b11
           WHEN 12 THEN k.b12 WHEN 13 THEN k.b13 WHEN 14 THEN k.b14 WHEN 15 THEN k.b15
           WHEN 16 THEN k.b16 WHEN 17 THEN k.b17 WHEN 18 THEN k.b18 WHEN 19 THEN k.b19
           WHEN 20 THEN k.b20 WHEN 21 THEN k.b21 WHEN 22 THEN k.b22 WHEN 23 THEN k.b23
           WHEN 24 THEN k.b24 WHEN 25 THEN k.b25 WHEN 26 THEN k.b26 WHEN 27 THEN k.b27
           WHEN 28 THEN k.b28 WHEN 29 THEN k.b29 WHEN 30 THEN k.b30 WHEN 31 THEN k.b31
         END AS busy
  FROM register_seconds AS k
  JOIN registers AS r ON r.id = (k.key & 65535)
  JOIN segments AS s ON s.id = r.segment
  JOIN units AS u ON u.register = r.id
);
