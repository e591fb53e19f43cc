#include "tests/support/power_cut_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "daemon/base/result.h"

namespace gputrace::test {

namespace {

constexpr std::uint64_t kSector = 512;

std::string name_of(const char* path) {
  return std::filesystem::path(path).filename().string();
}

/// A file on disk: what was synced, and in `pending` what came since.
struct Inode {
  std::string synced;
  std::vector<std::size_t> pending;  ///< places in the log
};

void put_bytes(std::string& file, std::uint64_t offset, std::string_view bytes) {
  if (file.size() < offset + bytes.size()) {
    file.resize(offset + bytes.size(), '\0');
  }
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
}

void put_some_sectors(std::string& file, std::uint64_t offset, std::string_view bytes,
                      std::mt19937_64& random) {
  while (!bytes.empty()) {
    const std::uint64_t size = std::min<std::uint64_t>(kSector - offset % kSector, bytes.size());
    if (random() % 2 == 0) {
      put_bytes(file, offset, bytes.substr(0, size));
    }
    offset += size;
    bytes.remove_prefix(size);
  }
}

}  // namespace

struct PowerCutVfs::Impl {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs* default_before = nullptr;
  std::set<std::string> seen;  ///< names that are there
};

/// SQLite's callbacks. https://www.sqlite.org/c3ref/io_methods.html
struct PowerCutHooks {
  using Kind = PowerCutVfs::Kind;

  /// What SQLite allocates for an open file; the real VFS's file follows it.
  struct File {
    sqlite3_file base;
    PowerCutVfs* owner;
    std::string* name;
  };
  static_assert(sizeof(File) % alignof(void*) == 0);

  static File& file_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static sqlite3_file* real_of(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(File));
  }
  static PowerCutVfs& owner_of(sqlite3_vfs* vfs) {
    return *static_cast<PowerCutVfs*>(vfs->pAppData);
  }
  static sqlite3_vfs* real_of(sqlite3_vfs* vfs) { return owner_of(vfs).impl_->real; }
  static void note(sqlite3_file* file, Kind kind, std::uint64_t offset, std::string bytes) {
    const File& self = file_of(file);
    self.owner->log_.push_back({kind, *self.name, offset, std::move(bytes)});
  }

  static int close(sqlite3_file* file) {
    const int code = real_of(file)->pMethods->xClose(real_of(file));
    delete file_of(file).name;
    return code;
  }
  static int read(sqlite3_file* file, void* buffer, int size, sqlite3_int64 offset) {
    return real_of(file)->pMethods->xRead(real_of(file), buffer, size, offset);
  }
  static int write(sqlite3_file* file, const void* buffer, int size, sqlite3_int64 offset) {
    note(file, Kind::kWrite, static_cast<std::uint64_t>(offset),
         std::string(static_cast<const char*>(buffer), static_cast<std::size_t>(size)));
    return real_of(file)->pMethods->xWrite(real_of(file), buffer, size, offset);
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    note(file, Kind::kTruncate, static_cast<std::uint64_t>(size), {});
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
  }
  static int sync(sqlite3_file* file, int /*flags*/) {
    note(file, Kind::kSync, 0, {});
    return SQLITE_OK;
  }
  static int size(sqlite3_file* file, sqlite3_int64* size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
  }
  static int lock(sqlite3_file* file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
  }
  static int unlock(sqlite3_file* file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
  }
  static int check_lock(sqlite3_file* file, int* reserved) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), reserved);
  }
  static int control(sqlite3_file* file, int operation, void* argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
  }
  static int sector_size(sqlite3_file* file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
  }
  static int characteristics(sqlite3_file* file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
  }
  static int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, memory);
  }
  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
  }
  static void shm_barrier(sqlite3_file* file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
  }
  static int shm_unmap(sqlite3_file* file, int remove) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
  }

  static const sqlite3_io_methods* methods() {
    static const sqlite3_io_methods kMethods{2,
                                             close,
                                             read,
                                             write,
                                             truncate,
                                             sync,
                                             size,
                                             lock,
                                             unlock,
                                             check_lock,
                                             control,
                                             sector_size,
                                             characteristics,
                                             shm_map,
                                             shm_lock,
                                             shm_barrier,
                                             shm_unmap,
                                             nullptr,
                                             nullptr};
    return &kMethods;
  }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
    sqlite3_vfs* real = real_of(vfs);
    File& self = file_of(file);
    self.base.pMethods = nullptr;  // "not open" until it is
    const int code = real->xOpen(real, path, real_of(file), flags, out);
    if (code != SQLITE_OK) {
      return code;
    }
    self.base.pMethods = methods();
    self.owner = &owner_of(vfs);
    self.name = new std::string(path == nullptr ? "" : name_of(path));
    // The main file was created by an open(2) that SQLite knows nothing of.
    if (path != nullptr && self.owner->impl_->seen.insert(*self.name).second) {
      note(file, Kind::kCreate, 0, {});
    }
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
    PowerCutVfs& owner = owner_of(vfs);
    const int code = real_of(vfs)->xDelete(real_of(vfs), path, 0);
    if (code == SQLITE_OK) {
      owner.impl_->seen.erase(name_of(path));
      owner.log_.push_back({Kind::kDelete, name_of(path), 0, {}});
      if (sync_folder != 0) {
        owner.log_.push_back({Kind::kSyncFolder, {}, 0, {}});
      }
    }
    return code;
  }
};

PowerCutVfs::PowerCutVfs(const std::filesystem::path& folder) : impl_(std::make_unique<Impl>()) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    before_[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
    impl_->seen.insert(entry.path().filename().string());
  }
  GPUTRACE_CHECK(sqlite3_initialize() == SQLITE_OK);
  impl_->real = sqlite3_vfs_find("unix");
  impl_->default_before = sqlite3_vfs_find(nullptr);
  GPUTRACE_CHECK(impl_->real != nullptr && impl_->default_before != nullptr);
  sqlite3_vfs& vfs = impl_->vfs;
  vfs = *impl_->real;  // what is not hooked goes to the real one: times, random numbers
  vfs.pNext = nullptr;
  vfs.zName = "power-cut";
  vfs.pAppData = this;
  vfs.szOsFile = static_cast<int>(sizeof(PowerCutHooks::File)) + impl_->real->szOsFile;
  vfs.xOpen = PowerCutHooks::open;
  vfs.xDelete = PowerCutHooks::remove;
  GPUTRACE_CHECK(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK);
}

PowerCutVfs::~PowerCutVfs() {
  sqlite3_vfs_unregister(&impl_->vfs);
  sqlite3_vfs_register(impl_->default_before, 1);
}

std::vector<std::size_t> PowerCutVfs::main_file_changes() const {
  std::vector<std::size_t> moments;
  for (std::size_t i = 0; i < log_.size(); ++i) {
    if (log_[i].kind == Kind::kDelete || log_[i].file.ends_with(".gputrace")) {
      moments.push_back(i + 1);
    }
  }
  return moments;
}

DiskImage PowerCutVfs::after_cut(std::size_t operations, Unsynced unsynced,
                                 std::mt19937_64& random) const {
  using Names = std::map<std::string, std::shared_ptr<Inode>>;
  Names seen;
  for (const auto& [name, bytes] : before_) {
    seen[name] = std::make_shared<Inode>(Inode{bytes, {}});
  }
  Names on_disk = seen;
  std::set<std::string> new_logs;
  const auto apply = [&](std::string& file, const Operation& operation) {
    if (operation.kind == Kind::kTruncate) {
      file.resize(operation.offset, '\0');
    } else {
      put_bytes(file, operation.offset, operation.bytes);
    }
  };
  for (std::size_t i = 0; i < operations; ++i) {
    const Operation& operation = log_[i];
    switch (operation.kind) {
      case Kind::kCreate:
        seen[operation.file] = std::make_shared<Inode>();
        if (!operation.file.ends_with(".gputrace")) {
          new_logs.insert(operation.file);
        }
        break;
      case Kind::kWrite:
      case Kind::kTruncate:
        seen.at(operation.file)->pending.push_back(i);
        break;
      case Kind::kSync: {
        Inode& inode = *seen.at(operation.file);
        for (const std::size_t each : inode.pending) {
          apply(inode.synced, log_[each]);
        }
        inode.pending.clear();
        // With the first sync of a journal or log that it created SQLite syncs the folder, too.
        if (new_logs.erase(operation.file) > 0) {
          on_disk = seen;
        }
        break;
      }
      case Kind::kDelete:
        seen.erase(operation.file);
        break;
      case Kind::kSyncFolder:
        on_disk = seen;
        break;
    }
  }
  const auto contents = [&](const Inode& inode) {
    std::string file = inode.synced;
    for (const std::size_t each : inode.pending) {
      if (unsynced == Unsynced::kSome && log_[each].kind == Kind::kWrite) {
        put_some_sectors(file, log_[each].offset, log_[each].bytes, random);
      } else if (unsynced == Unsynced::kKept ||
                 (unsynced == Unsynced::kSome && random() % 2 == 0)) {
        apply(file, log_[each]);
      }
    }
    return file;
  };
  std::set<std::string> names;
  for (const Names* each : {&seen, &on_disk}) {
    for (const auto& [name, inode] : *each) {
      names.insert(name);
    }
  }
  DiskImage image;
  for (const std::string& name : names) {
    const bool new_one =
        unsynced == Unsynced::kKept || (unsynced == Unsynced::kSome && random() % 2 == 0);
    const Names& entries = new_one ? seen : on_disk;
    if (const auto entry = entries.find(name); entry != entries.end()) {
      image[name] = contents(*entry->second);
    }
  }
  return image;
}

void write_image(const DiskImage& image, const std::filesystem::path& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const auto& [name, bytes] : image) {
    std::ofstream file(folder / name, std::ios::binary);
    file << bytes;
    GPUTRACE_CHECK(file.good());
  }
}

}  // namespace gputrace::test
