"""What the commands do, for programs: the same work and the same reports, without a process in between.

A harness that looks before it resumes a session:

    from doctor import check, fix

    report = check("sessions/7a2c5a9f/transcript.jsonl")
    for file in report.files:
        if file.verdict == "after-fix":
            planned = fix(file.path)                     # dry run: nothing is written
            print([step.title for step in planned.files[0].fix.applied])
            report = fix(file.path, dry_run=False)       # verified backup first; `undo(file.path)` brings it back
        elif file.verdict in ("not-resumable", "live"):
            raise RuntimeError(f"{file.path}: {file.verdict}")
    if report.errors:
        raise RuntimeError(report.errors[0].message)

A path is a transcript, a session folder, or a tree of them; `bytes` are a transcript that lies on no disk. Nothing here raises for a
session that can't be read or written: it becomes a Failure in `Report.errors`, and the others go on. What the caller got wrong (an
unknown rule, say) raises `doctor.errors.DoctorError`.
"""
